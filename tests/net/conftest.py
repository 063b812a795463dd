import shutil
import ssl
import subprocess
from types import SimpleNamespace

import pytest

from tests.net.server import Server


@pytest.fixture
def start_server(settings):
    """Start servers on 127.0.0.1 whose ports may be fetched from, and the address too."""
    servers = []

    def start(**options):
        servers.append(Server(**options))
        ports = tuple(server.port for server in servers)
        settings.VERNIER_NET = {"PORTS": ports, "PRIVATE_HOSTS": ("127.0.0.1", "one.test", "two.test", "tls.test")}
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def server(start_server):
    return start_server()


@pytest.fixture
def here():
    """A resolver for which every name is 127.0.0.1."""
    return lambda host: ["127.0.0.1"]


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """A certificate for tls.test that nobody has signed, and its key."""
    if not shutil.which("openssl"):
        pytest.skip("There is no command openssl to make a certificate with.")
    directory = tmp_path_factory.mktemp("tls")
    made = SimpleNamespace(file=str(directory / "certificate.pem"), key=str(directory / "key.pem"))
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-subj", "/CN=tls.test", "-days", "2", "-keyout", made.key, "-out", made.file]
    command += ["-addext", "subjectAltName=DNS:tls.test", "-addext", "keyUsage=digitalSignature,keyCertSign"]
    subprocess.run(command, check=True, capture_output=True)
    return made


@pytest.fixture
def tls_server(start_server, certificate):
    """A server with that certificate; `names` has the server names that clients asked for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.file, certificate.key)
    server = start_server(tls=context)
    context.sni_callback = lambda connection, name, _: server.names.append(name)
    return server
