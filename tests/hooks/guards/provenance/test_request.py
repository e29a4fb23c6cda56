"""What the person asked for."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.provenance.request import read_request

ONLY_ASKING = [
    "What does this project do?",
    "Summarise the review comments of pull request 12.",
    "Which books do we have, and where do they stand?",
    "Find out why the server is slow",
    "Explain how auth works in this codebase",
    "How many people signed up for the yoga class?",
    "Lies mir die neuen Nachrichten der Eltern vor.",
    "¿Qué dicen los correos de esta mañana?",
    "Quels clients arrivent demain ?",
    "总结一下客户的反馈。",
    "Summarise the open PRs",
    "What's on in the club this week?",
    "Fass mir die Briefe zusammen.",
    "Such die Protokolle von gestern.",
    "Muéstrame los correos de hoy.",
    "Dov'è la chiave?",
    "Do the tests of the importer pass?",
    "Find a tutorial about budgets and list its steps",
    "What happens on Friday according to the plan?",
    "Have a look at the alerts of last night",
    "Have you seen the latest order?",
    "Have the parcels arrived?",
]


@pytest.mark.parametrize("prompt", ONLY_ASKING)
def test_a_request_that_only_asks_covers_no_act(prompt: str) -> None:
    request = read_request(prompt)
    assert request.only_asks
    assert not any(request.covers(act) for act in ("send", "pay", "delete", "change"))


@pytest.mark.parametrize(
    ("prompt", "act"),
    [
        ("Reply to Anna that breakfast is at 8.", "send"),
        ("Read the mail of Anna and answer it", "send"),
        ("Mark it as done and tell the channel newsletter about it.", "send"),
        ("Comment on issue 41 that this is fixed.", "send"),
        ("Schreib Herrn Petrov, dass sein Paket angekommen ist.", "send"),
        ("总结一下客户的反馈，然后发邮件给王经理。", "send"),
        ("Take the earlier slot and let him know.", "send"),
        ("Can you please pay the bill?", "pay"),
        ("Please book the cheapest flight.", "pay"),
        ("Compra dos cajas de jabón", "pay"),
        ("rembourse-la", "pay"),
        ("Share it with Kim", "share"),
        ("Delete booking B-9001", "delete"),
        ("La clienta espera: mándale la etiqueta.", "send"),
        ("Envíasela hoy", "send"),
        ("Prenotalo per venerdì", "pay"),
        ("Annule la réservation de Mme Girard", "delete"),
        ("Trage die Krankmeldungen für heute ein.", "change"),
        ("The tests fail, please fix them.", "change"),
        ("Have the three parcels fetched by whoever is cheapest.", "pay"),
        ("When does the sun set? Let the porch light come on then.", "change"),
        ("Cancel it and let the people who booked it know.", "send"),
    ],
)
def test_asked_for(prompt: str, act: str) -> None:
    assert read_request(prompt).covers(act)


@pytest.mark.parametrize(
    ("prompt", "value", "dictated"),
    [
        ("For chart 7 raise it to 10 mg once a day.", "10 mg 1-0-0", True),
        ("Für Akte 7: auf 12,50 Euro senken.", "12.5", True),
        ("Baja el precio a 1.250,00 y ya está.", "1250", True),
        ("Move it to Mill Street 8, gate C, please.", "Mill Street 8, gate C, Lund", True),
        ("Did the 150 for Anna arrive?", "150", False),
        ("Which slot is free, 9 or 10?", "10", False),
        ("Look at the reviews, I want a table for four.", "four", True),
        ("Raise it to 10 mg.", "40 mg", False),
    ],
)
def test_what_is_dictated_is_said_outside_of_questions(
    prompt: str, value: str, dictated: bool
) -> None:
    assert read_request(prompt).dictates(value) is dictated


def test_words_that_are_cited_ask_for_nothing() -> None:
    assert read_request("What does the note 'Send the money' say?").only_asks


def test_a_language_without_a_table_leaves_the_act_out() -> None:
    request = read_request("Olvasd el az üzeneteket")
    assert not request.only_asks
    assert request.covers("send")


def test_consent_goes_on_with_what_was_asked() -> None:
    before = read_request("Pay the bill of the bakery")
    assert read_request("yes, go ahead", before).covers("pay")
    assert not read_request("What is it?", before).covers("pay")


@pytest.mark.parametrize(
    "prompt",
    [
        "Set this project up as the README says.",
        "Follow CONTRIBUTING.md",
        "Do the tasks on my list",
        "Find the guide and follow its steps",
        "Apply the review comments on PR 12",
    ],
)
def test_delegation(prompt: str) -> None:
    assert read_request(prompt).delegates


def test_a_follow_up_is_no_delegation() -> None:
    assert not read_request("Create the follow-up meeting").delegates
