"""What the clients call search with: a filter deeper than the published schema describes."""

TOOL = "search"
FILTER = {"and": [{"and": [{"not": {"of": {"field": "a", "is": 1}}}, {"and": []}]}, {"field": "b", "is": "x"}], "not": {"of": {"not": {"of": {"field": "c"}}}}}
ARGUMENTS = {"body": {"filter": FILTER, "order": {"by": "a", "then": {"by": "b", "then": {"by": "c"}}}}}
ORDER = {"_by": "a", "then": {"_by": "b", "then": {"_by": "c"}}}


def plain(value):
    """value without the nulls that clients add."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items() if v is not None}
    return [plain(v) for v in value] if isinstance(value, list) else value


def check(came):
    assert plain(came["body"]) == {"filter": FILTER, "order": ORDER}, came
