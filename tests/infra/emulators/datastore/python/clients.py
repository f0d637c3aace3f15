"""Google's two Python clients on a Datastore emulator (DATASTORE_EMULATOR_HOST): put, get, query, transaction.

Run by clients.test.ts. Prints "ok" at the end; anything that is not as it should be raises.
"""

import uuid

from google.auth.credentials import AnonymousCredentials
from google.cloud import datastore, ndb

KIND = "K" + uuid.uuid4().hex[:12]


def expect(actual, expected):
    if actual != expected:
        raise AssertionError(f"{actual!r} is not {expected!r}")


def try_datastore():
    client = datastore.Client(project="python")
    keys = [client.key(KIND, name) for name in "abc"]
    for number, key in enumerate(keys):
        entity = datastore.Entity(key=key, exclude_from_indexes=("text",))
        entity.update({"number": number, "text": "x" * 5000, "tags": ["t", key.name]})
        client.put(entity)
    expect(client.get(keys[1])["number"], 1)
    expect(len(client.get_multi(keys)), 3)
    expect(client.get(client.key(KIND, "none")), None)

    query = client.query(kind=KIND, order=["-number"])
    query.add_filter(filter=datastore.query.PropertyFilter("number", ">=", 1))
    expect([found.key.name for found in query.fetch()], ["c", "b"])
    page = client.query(kind=KIND).fetch(limit=2)
    expect([found.key.name for found in page], ["a", "b"])
    rest = client.query(kind=KIND).fetch(start_cursor=page.next_page_token)
    expect([found.key.name for found in rest], ["c"])

    with client.transaction():
        entity = client.get(keys[0])
        entity["number"] += 10
        client.put(entity)
    expect(client.get(keys[0])["number"], 10)

    generated = datastore.Entity(key=client.key(KIND))
    client.put(generated)
    expect(generated.key.is_partial, False)
    client.delete_multi(keys + [generated.key])
    expect(client.get_multi(keys), [])


class Note(ndb.Model):
    number = ndb.IntegerProperty()
    text = ndb.TextProperty()
    tags = ndb.StringProperty(repeated=True)

    @classmethod
    def _get_kind(cls):
        return KIND + "Note"


def try_ndb():
    client = ndb.Client(project="python", credentials=AnonymousCredentials())
    with client.context(cache_policy=lambda key: False):
        keys = ndb.put_multi([Note(id=name, number=number, tags=["t", name]) for number, name in enumerate("abc")])
        expect(keys[1].get().number, 1)
        expect([note.number for note in Note.query(Note.number >= 1).order(-Note.number)], [2, 1])
        expect([note.key.id() for note in Note.query(Note.tags == "b")], ["b"])
        expect(Note.query().count(), 3)
        found, cursor, more = Note.query().fetch_page(2)
        expect((len(found), more), (2, True))
        expect([note.key.id() for note in Note.query().fetch_page(2, start_cursor=cursor)[0]], ["c"])

        @ndb.transactional()
        def add(amount):
            note = keys[0].get()
            note.number += amount
            note.put()

        add(10)
        expect(keys[0].get().number, 10)
        ndb.delete_multi(keys)
        expect(keys[0].get(), None)


try_datastore()
try_ndb()
print("ok")
