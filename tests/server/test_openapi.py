"""The document says what there is, in whole words, also of what the original has not."""

import re

from turnkeeper.server.openapi import document

WORDS = re.compile(r"\w+ \w+")
OWN = {
    "GET /v1/workspaces/{id}/snapshot",
    "GET /v1/workspaces/{id}/runs/{run_id}",
    "GET /v1/workspaces/{id}/runs/{run_id}/wait",
    "POST /v1/workspaces/{id}/runs/{run_id}/cancel",
    "GET /v1/workspaces/{id}/agent/sessions/{sid}/queue",
    "PATCH /v1/workspaces/{id}/runs/{run_id}",
    "POST /v1/workspaces/{id}/runs/{run_id}/move",
}


def test_every_operation_every_answer_and_everything_that_may_be_asked_is_described() -> None:
    bare = [
        (path, method, said)
        for path, methods in document("test")["paths"].items()
        for method, operation in methods.items()
        for said in (
            operation["summary"],
            *(answer["description"] for answer in operation["responses"].values()),
            *(one["description"] for one in operation["parameters"] if one["in"] != "path"),
        )
        if not WORDS.search(said) and said not in ("done", "events")
    ]
    assert bare == []


def test_what_is_ours_is_there_with_the_shape_of_its_answers() -> None:
    paths = document("test")["paths"]
    ours = {
        f"{method.upper()} {path}": operation["responses"]["200"]["content"]["application/json"]["schema"]
        for path, methods in paths.items()
        for method, operation in methods.items()
        if f"{method.upper()} {path}" in OWN and operation["tags"] == ["own"]
    }
    assert set(ours) == OWN
    assert all(shape["$ref"].startswith("#/components/schemas/") for shape in ours.values())
    cancel = paths["/v1/workspaces/{id}/agent/sessions/{sid}/cancel"]["post"]
    assert cancel["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].endswith("/CancelReceipt")
    events = paths["/v1/workspaces/{id}/events"]["get"]["parameters"]
    assert [one["name"] for one in events] == ["id", "client_id", "after", "detail", "Last-Event-ID"]
    accepted = paths["/v1/workspaces/{id}/agent"]["post"]["responses"]["202"]
    assert list(accepted["headers"]) == ["Turnkeeper-Run-Id"]
