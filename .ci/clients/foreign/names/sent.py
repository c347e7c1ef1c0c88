"""What the clients call putThing with, and what the service is to get of it."""

TOOL = "putThing"
ARGUMENTS = {
    "key": "a", "id_": 1, "id": 2, "fields_": "f", "underscore": 3, "model_config_": "m",
    "body": {"type": "t", "owner": {"id_": 4}, "links": [{"type": "u"}]},
}
PATH = "/things/a?_id=1&id=2&_fields=f&_=3&model_config=m"
BODY = {"__type": "t", "_owner": {"_id": 4}, "_links": [{"__type": "u"}]}


def holds(came, wanted=BODY):
    """Whether what came has all that was wanted; clients may add nulls."""
    if isinstance(wanted, dict):
        return all(holds(came.get(k), v) for k, v in wanted.items())
    if isinstance(wanted, list):
        return len(came) == len(wanted) and all(map(holds, came, wanted))
    return came == wanted


def check(came):
    assert came["path"] == PATH, came
    assert holds(came["body"]), came
