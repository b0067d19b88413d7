import client


def test_creates_a_page():
    assert client.create_page("Roof plan")["name"] == "Roof plan"


def test_lists_all_users():
    users = client.list_users("teamspace-harbor")
    assert len(users) == 23
