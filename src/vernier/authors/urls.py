from __future__ import annotations

from django.urls import path

from vernier.authors.views.account import account, email, password
from vernier.authors.views.code import ask_code, enter_code
from vernier.authors.views.link import link
from vernier.authors.views.login import login, logout

app_name = "authors"

urlpatterns = [
    path("login", login, name="login"),
    path("login/mail", ask_code, name="ask_code"),
    path("login/code", enter_code, name="code"),
    path("logout", logout, name="logout"),
    path("sign-in/<str:secret>", link, name="link"),
    path("account", account, name="account"),
    path("account/email", email, name="email"),
    path("account/password", password, name="password"),
]
