// Send a made-up token: whether it is refused as such or missed tells whether the header arrives.
const status = document.getElementById("self-check");

async function check() {
  const headers = { Authorization: "Bearer self-check" };
  const answer = await fetch(status.dataset.endpoint, { headers, credentials: "omit", cache: "no-store" });
  const { error } = await answer.json();
  return { invalid_token: status.dataset.arrives, unauthorized: status.dataset.removed }[error];
}

check()
  .catch(() => undefined)
  .then((sentence) => {
    status.textContent = sentence ?? status.dataset.unclear;
    status.hidden = false;
  });
