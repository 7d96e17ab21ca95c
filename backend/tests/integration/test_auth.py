"""Accounts and sign-in over HTTP."""

import time
from uuid import uuid4

import httpx
import jwt
import pytest
from product_client import PASSWORD, Person
from stack.testing import EmbeddedStack


@pytest.fixture
def browser(product: EmbeddedStack) -> httpx.Client:
    """A client that keeps cookies, as the page does."""
    return httpx.Client(base_url=f"{product.base_url('backend')}/api")


def register(browser: httpx.Client) -> str:
    email = f"{uuid4().hex[:10]}@example.com"
    response = browser.post("/auth/register", json={"email": email, "password": PASSWORD})
    assert response.status_code == 201, response.text
    return email


class TestRegistration:
    def test_a_new_account_is_signed_in_by_cookies_that_scripts_cannot_read(self, browser: httpx.Client) -> None:
        email = f"{uuid4().hex[:10]}@Example.com"
        response = browser.post("/auth/register", json={"email": email, "password": PASSWORD})
        cookies = response.headers.get_list("set-cookie")
        assert len(cookies) == 2
        assert all("HttpOnly" in cookie and "SameSite=strict" in cookie for cookie in cookies)
        assert any("Path=/api/auth" in cookie for cookie in cookies if cookie.startswith("refresh_token"))
        assert browser.get("/auth/me").json()["email"] == email.lower()

    def test_an_address_is_taken_once_whatever_its_case(self, browser: httpx.Client) -> None:
        email = register(browser)
        again = browser.post("/auth/register", json={"email": email.upper(), "password": PASSWORD})
        assert (again.status_code, again.json()["code"]) == (409, "email_taken")

    @pytest.mark.parametrize(
        ("field", "value"), [("email", "nobody"), ("password", "short"), ("password", "x" * 1000), ("email", None)]
    )
    def test_what_is_wrong_is_named_by_field(self, browser: httpx.Client, field: str, value: str | None) -> None:
        body = {"email": "a@example.com", "password": PASSWORD, field: value}
        response = browser.post("/auth/register", json=body)
        assert response.status_code == 422
        assert response.headers["content-type"] == "application/problem+json"
        assert [problem["field"] for problem in response.json()["errors"]] == [field]


class TestLogin:
    def test_a_wrong_password_and_an_unknown_address_get_the_same_answer(self, browser: httpx.Client) -> None:
        email = register(browser)
        wrong = browser.post("/auth/login", json={"email": email, "password": "not the password"})
        unknown = browser.post("/auth/login", json={"email": "nobody@example.com", "password": PASSWORD})
        assert wrong.status_code == unknown.status_code == 401
        assert wrong.json()["code"] == unknown.json()["code"] == "bad_credentials"
        assert wrong.json()["detail"] == unknown.json()["detail"]

    def test_the_first_account_of_an_install_can_sign_in(self, product: EmbeddedStack, browser: httpx.Client) -> None:
        email, password = product.first_user
        response = browser.post("/auth/login", json={"email": email, "password": password})
        assert response.status_code == 200
        assert response.json()["user"]["role"] == "admin"


class TestRefresh:
    def test_a_refresh_gives_a_new_pair(self, browser: httpx.Client) -> None:
        register(browser)
        before = browser.cookies["refresh_token"]
        response = browser.post("/auth/refresh")
        assert response.status_code == 200
        assert browser.cookies["refresh_token"] != before

    def test_a_stolen_token_that_comes_late_ends_the_sign_in_for_everybody(
        self, product: EmbeddedStack, browser: httpx.Client
    ) -> None:
        register(browser)
        stolen = browser.cookies["refresh_token"]
        browser.post("/auth/refresh")
        browser.post("/auth/refresh")
        thief = httpx.Client(base_url=browser.base_url, cookies={"refresh_token": stolen})
        assert thief.post("/auth/refresh").status_code == 401
        assert browser.post("/auth/refresh").status_code == 401

    def test_two_tabs_that_refresh_at_once_both_go_on(self, browser: httpx.Client) -> None:
        register(browser)
        other_tab = httpx.Client(base_url=browser.base_url, cookies={"refresh_token": browser.cookies["refresh_token"]})
        assert browser.post("/auth/refresh").status_code == 200
        assert other_tab.post("/auth/refresh").status_code == 200
        assert browser.post("/auth/refresh").status_code == 200

    def test_after_signing_out_the_refresh_token_is_worth_nothing(self, browser: httpx.Client) -> None:
        register(browser)
        token = browser.cookies["refresh_token"]
        assert browser.post("/auth/logout").status_code == 204
        late = httpx.Client(base_url=browser.base_url, cookies={"refresh_token": token})
        assert late.post("/auth/refresh").status_code == 401


class TestAccessTokens:
    def test_an_expired_token_is_told_apart_from_a_wrong_one(self, product: EmbeddedStack, person: Person) -> None:
        secret = product.env_of("backend")["AUTH_JWT_SECRET"]
        claims = jwt.decode(person.token, secret, algorithms=["HS256"])
        expired = jwt.encode({**claims, "exp": time.time() - 1}, secret, algorithm="HS256")
        forged = jwt.encode(claims, "x" * 32, algorithm="HS256")
        unsigned = jwt.encode(claims, None, algorithm="none")
        codes = {}
        for name, token in {"expired": expired, "forged": forged, "unsigned": unsigned, "junk": "junk"}.items():
            response = person.http.get("/auth/me", headers={"Authorization": f"Bearer {token}"})
            assert response.status_code == 401
            codes[name] = response.json()["code"]
        assert codes == {
            "expired": "token_expired",
            "forged": "not_signed_in",
            "unsigned": "not_signed_in",
            "junk": "not_signed_in",
        }

    def test_cookies_from_another_origin_change_nothing(self, browser: httpx.Client) -> None:
        register(browser)
        foreign = browser.post("/threads", json={}, headers={"Origin": "https://evil.example"})
        assert (foreign.status_code, foreign.json()["code"]) == (403, "cross_origin")
        own = browser.post("/threads", json={}, headers={"Origin": str(browser.base_url).removesuffix("/api/")})
        assert own.status_code == 201


class TestApiKeys:
    def test_a_key_works_until_it_is_deleted(self, person: Person) -> None:
        made = person.http.post("/auth/api-keys", json={"name": "script"}).json()
        headers = {"Authorization": f"Bearer {made['key']}"}
        assert person.http.get("/auth/me", headers=headers).json()["email"] == person.email
        listed = person.http.get("/auth/api-keys").json()["items"]
        assert [key["name"] for key in listed] == ["script"]
        assert "key" not in listed[0]
        assert listed[0]["last_used_at"] is not None
        assert person.http.delete(f"/auth/api-keys/{made['id']}").status_code == 204
        assert person.http.get("/auth/me", headers=headers).status_code == 401
