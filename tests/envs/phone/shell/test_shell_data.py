"""`sqlite3` and `content`: what checks read of the phone's databases, and that they reach nothing else."""

import shlex
import sqlite3
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coach_gym.envs.phone.providers import contacts, telephony
from coach_gym.envs.phone.providers.telephony import deliver
from coach_gym.envs.phone.shell import run
from coach_gym.envs.phone.shell.commands.database import statements
from coach_gym.envs.profiles import world_phone

MMS = telephony.PATH


def out(phone, command, stdin=b""):
    return run(phone, command, stdin).stdout.decode()


# sqlite3


def test_statements_change_the_database_that_the_app_reads(phone):
    deliver(phone, "+1555", "hello")
    assert out(phone, f'sqlite3 {MMS} "SELECT address, body, person FROM sms;"') == "+1555|hello|\n"
    run(phone, f'sqlite3 {MMS} "DELETE FROM sms;"; sqlite3 {MMS} "DELETE FROM threads;"')
    assert telephony.conversations(phone.storage.database(MMS)) == []


def test_a_pulled_file_holds_what_was_written(phone, tmp_path):
    script = "CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 2.5), (NULL, 'A')"
    run(phone, f'sqlite3 /data/local/tmp/new.db "{script}"')
    run(phone, "sqlite3 /data/local/tmp/new.db 'CREATE INDEX i ON t(a)'")
    file = tmp_path / "new.db"
    file.write_bytes(phone.storage.read("/data/local/tmp/new.db"))
    connection = sqlite3.connect(file)
    assert connection.execute("SELECT a, b FROM t").fetchall() == [(1, 2.5), (None, "A")]
    assert connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'").fetchall() == [("i",)]
    connection.close()
    pushed = sqlite3.connect(file)
    pushed.execute("INSERT INTO t VALUES (7, 'pushed')")
    pushed.commit()
    pushed.close()
    phone.storage.write("/data/local/tmp/new.db", file.read_bytes())
    assert "7|pushed\n" in out(phone, "sqlite3 /data/local/tmp/new.db 'SELECT * FROM t'")


def test_rows_are_printed_as_the_tool_prints_them(phone):
    query = "\"SELECT 1, 2.0, 1e100, NULL, 'a b', x'4142', 0.1+0.2 AS s\""
    db = "/data/local/tmp/x.db"
    assert out(phone, f"sqlite3 {db} {query}") == "1|2.0|1.0e+100||a b|AB|0.3\n"
    assert out(phone, f"sqlite3 -header -csv {db} \"SELECT 1 AS one, 'a,b' AS two\"") == 'one,two\n1,"a,b"\n'
    assert out(phone, f"sqlite3 -separator ' - ' {db} 'SELECT 1, 2'") == "1 - 2\n"
    assert out(phone, f"sqlite3 -line {db} 'SELECT 1 AS one'") == "one = 1\n\n"
    assert out(phone, f"sqlite3 {MMS} .tables").split() == ["canonical_addresses", "sms", "threads"]
    assert out(phone, f"sqlite3 {MMS} '.schema canonical_addresses'").startswith("CREATE TABLE canonical_addresses")
    assert out(phone, f"sqlite3 {db}", b"SELECT 1;\nSELECT\n2;\n") == "1\n2\n"


def test_mistakes_are_told(phone):
    output = run(phone, f"sqlite3 {MMS} 'SELECT * FROM absent'")
    assert (output.stderr, output.code) == (b"Error: no such table: absent\n", 1)
    assert b"unable to open database" in run(phone, "sqlite3 /none/x.db 'SELECT 1'").stderr
    phone.storage.write("/data/local/tmp/text", b"this is no database at all" * 100)
    assert b"not a database" in run(phone, "sqlite3 /data/local/tmp/text 'SELECT * FROM t'").stderr
    assert not phone.storage.exists("/data/local/tmp/asked.db")
    run(phone, "sqlite3 /data/local/tmp/asked.db 'SELECT 1'")
    assert not phone.storage.exists("/data/local/tmp/asked.db")


def test_a_database_without_a_file_ends_with_its_command(phone):
    assert out(phone, "sqlite3 :memory: 'CREATE TABLE t(a)'; sqlite3 :memory: .tables") == "\n"
    assert "" not in phone.storage.listdir("/")
    for place in (":memory:", "/sdcard/empty.db"):
        rolled_back = "BEGIN; CREATE TABLE t(a); INSERT INTO t VALUES (1); ROLLBACK; SELECT 2"
        assert out(phone, f"touch /sdcard/empty.db; sqlite3 {place} '{rolled_back}'") == "2\n"
    assert phone.storage.snapshot()


@pytest.mark.parametrize("end", ["", "; SELECT * FROM absent"])
def test_an_unfinished_transaction_is_rolled_back(phone, end):
    deliver(phone, "+1555", "hello")
    for begun in ("BEGIN", "SAVEPOINT s"):
        run(phone, f'sqlite3 {MMS} "{begun}; DELETE FROM sms; CREATE TABLE made(x){end}"')
        assert out(phone, f"sqlite3 {MMS} 'SELECT body FROM sms; SELECT * FROM made'") == "hello\n"


@pytest.mark.parametrize(("expression", "value"), [
    ("datetime('now')", "2023-10-15 15:34:05"), ("datetime()", "2023-10-15 15:34:05"),
    ("date('NOW', '+1 day')", "2023-10-16"),
    ("current_timestamp", "2023-10-15 15:34:05"), ("CURRENT_DATE", "2023-10-15"), ("current_time", "15:34:05"),
    ("strftime('%Y %s', 'now')", "2023 1697384045"), ("strftime('%H')", "15"),
    ("round(julianday('now'), 2)", "2460233.15"), ("datetime(0, 'unixepoch', 'localtime')", "1970-01-01 00:00:00"),
    ("datetime('2020-02-29', 'utc', '+1 year')", "2021-03-01 00:00:00"), ("time('utc')", ""), ("date(NULL)", ""),
    ("strftime()", ""),
])  # fmt: skip
def test_now_is_the_phones_time(phone, expression, value, monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")  # of this machine
    time.tzset()
    run(phone, "date '2023-10-15 15:34:05'")
    assert out(phone, f'sqlite3 :memory: "SELECT {expression}"') == f"{value}\n"
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(("expression", "value"), [
    ("time('now'), time('now', 'localtime')", "15:34:05|11:34:05"), ("time('11:34', 'utc')", "16:34:00"),
    ("datetime(0, 'unixepoch', '+1 day', 'localtime', '+1 hour')", "1970-01-01 20:00:00"),
    ("time('12:00', 'localtime', 'utc')", "12:00:00"), ("date('no', 'localtime')", ""),
    ("date('-4000-01-01', 'localtime')", "-4000-01-01"),
])  # fmt: skip
def test_local_time_is_that_of_the_zone_that_is_set(phone, expression, value):
    run(phone, "date '2023-10-15 15:34:05'; setprop persist.sys.timezone America/New_York")
    assert out(phone, f'sqlite3 :memory: "SELECT {expression}"') == f"{value}\n"


def test_defaults_and_indexes_of_times(phone):
    run(phone, "sqlite3 /sdcard/t.db 'CREATE TABLE t(x DEFAULT CURRENT_TIMESTAMP, y); CREATE INDEX i ON t(date(x))'")
    for day in ("2024-05-10", "2024-05-11"):
        run(phone, f"date {day}; sqlite3 /sdcard/t.db 'INSERT INTO t(y) VALUES (1)'")
    assert out(phone, "sqlite3 /sdcard/t.db 'SELECT x FROM t'") == "2024-05-10 00:00:00\n2024-05-11 00:00:00\n"


def test_a_read_only_database_is_only_read(phone):
    deliver(phone, "+1555", "hello")
    for statement in ("DELETE FROM sms", "CREATE TABLE t(x)", "UPDATE sms SET body = 'x'", "BEGIN; DELETE FROM sms"):
        output = run(phone, f'sqlite3 -readonly {MMS} "{statement}"')
        assert (output.stderr, output.code) == (b"Error: attempt to write a readonly database\n", 1)
    assert out(phone, f"sqlite3 -readonly {MMS} 'SELECT body FROM sms'") == "hello\n"
    run(phone, f"sqlite3 {MMS} 'DELETE FROM sms'")
    assert out(phone, f"sqlite3 {MMS} 'SELECT count(*) FROM sms'") == "0\n"
    for path in ("/sdcard/none.db", "/sdcard"):
        assert b"unable to open database" in run(phone, f"sqlite3 -readonly {path} 'SELECT 1'").stderr
    assert not phone.storage.exists("/sdcard/none.db")


def test_standard_input_goes_on_after_a_fault_unless_told_to_bail(phone):
    script = b"SELECT * FROM absent; SELECT 1;\n.mode json\nSELECT 2;\n.quit\nSELECT 3;\n"
    output = run(phone, "sqlite3 :memory:", script)
    assert (output.stdout, output.stderr.count(b"Error:"), output.code) == (b"2\n", 2, 1)
    output = run(phone, "sqlite3 -bail :memory:", script)
    assert (output.stdout, output.stderr.count(b"Error:"), output.code) == (b"", 1, 1)
    assert run(phone, "sqlite3 :memory: '.mode json' 'SELECT 1'").stdout == b""


def test_no_statement_reaches_a_file_of_this_machine(phone, tmp_path):
    secret = tmp_path / "host.db"
    with sqlite3.connect(secret) as connection:
        connection.execute("CREATE TABLE secret(x)")
    for statement in (
        f"ATTACH '{secret}' AS h; SELECT * FROM h.secret", f"VACUUM INTO '{tmp_path}/made'",
        f"ATTACH 'file:{secret}?mode=ro' AS h", f"PRAGMA temp_store_directory = '{tmp_path}'",
        f"SELECT load_extension('{tmp_path}/x')", f"SELECT readfile('{secret}')", f".read {secret}", f".open {secret}",
        f".backup {tmp_path}/made", f".output {tmp_path}/made", f"PRAGMA writable_schema = 1; ATTACH '{secret}' AS h",
    ):  # fmt: skip
        output = run(phone, f'sqlite3 {MMS} "{statement}"')
        assert output.stderr and not output.stdout, statement
    content = f"content query --uri content://sms --where \"1) UNION SELECT * FROM (ATTACH '{secret}')\""
    assert not run(phone, content).stdout
    assert [path.name for path in tmp_path.iterdir()] == ["host.db"]
    assert phone.storage.database(MMS).execute("SELECT 1").fetchone() == (1,)


def test_endless_and_huge_queries_are_stopped(phone):
    started = time.monotonic()
    endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c"
    assert b"interrupted" in run(phone, f"sqlite3 {MMS} '{endless}'").stderr
    assert run(phone, f"sqlite3 {MMS} 'SELECT length(zeroblob(2000000000))'").stderr
    assert out(phone, f"sqlite3 {MMS} 'SELECT 1'") == "1\n"
    assert time.monotonic() - started < 60


def test_triggers_stay_whole():
    trigger = "CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM b; DELETE FROM c; END;"
    assert [each.strip() for each in statements(f"SELECT 1; {trigger} SELECT ';'; -- end")] == [
        "SELECT 1;", trigger, "SELECT ';';",
    ]  # fmt: skip


# content


def test_messages_are_rows_that_androidworld_reads(phone):
    deliver(phone, "+1555", "Hi, there = you")
    phone.now = phone.now.replace(minute=50)
    deliver(phone, "+1666", "second")
    rows = out(phone, "content query --uri content://sms/inbox").splitlines()
    assert rows[0].startswith("Row: 0 _id=2, thread_id=2, address=+1666, person=NULL, date=169738500")
    assert rows[1].startswith("Row: 1 _id=1,") and "body=Hi, there = you, service_center=NULL" in rows[1]
    assert out(phone, "content query --uri content://sms/sent") == "No result found.\n"
    narrow = "content query --uri content://sms --projection address:body --where \"address='+1555'\" --sort 'date ASC'"
    assert out(phone, narrow) == "Row: 0 address=+1555, body=Hi, there = you\n"
    assert out(phone, "content query --uri content://sms/2 --projection body") == "Row: 0 body=second\n"


def test_messages_are_inserted_into_their_conversation(phone):
    insert = "content insert --uri content://sms/sent --bind address:s:+1555 --bind body:s:'it is'"
    run(phone, f"{insert} --bind date:l:5000")
    (conversation,) = telephony.conversations(phone.storage.database(MMS))
    assert conversation.address == "+1555"
    (message,) = telephony.messages(phone.storage.database(MMS))
    assert (message.body, message.kind) == ("it is", telephony.SENT)
    run(phone, "content update --uri content://sms --bind read:i:1 --bind body:s:new --where '_id=1'")
    assert "body=new," in out(phone, "content query --uri content://sms")
    run(phone, "content delete --uri content://sms")
    assert telephony.messages(phone.storage.database(MMS)) == []


def test_media_are_files(phone):
    run(phone, "echo x > /sdcard/Download/a.png; echo x > /sdcard/Pictures/b.png; echo x > /sdcard/Download/c.mp3")
    images = out(phone, "content query --uri content://media/external/images/media --projection _display_name")
    assert images == "Row: 0 _display_name=a.png\nRow: 1 _display_name=b.png\n"
    run(phone, "content delete --uri content://media/external/downloads")
    assert out(phone, "ls /sdcard/Download; ls /sdcard/Pictures") == "b.png\n"


FILES = "--uri content://media/external/file"


@pytest.mark.parametrize(("change", "path"), [
    ("_display_name:s:c.png", "/sdcard/c.png"), ("relative_path:s:Pictures/New/", "/sdcard/Pictures/New/a b.png"),
    ("_data:s:/sdcard/Pictures/d.png", "/sdcard/Pictures/d.png"),
    ("relative_path:s:Pictures --bind _display_name:s:e.png", "/sdcard/Pictures/e.png"),
])  # fmt: skip
def test_a_file_goes_where_its_row_says(phone, change, path):
    run(phone, "echo x > '/sdcard/a b.png'; touch /sdcard/other")
    moved = run(phone, f"content update {FILES} --bind {change} --where \"_display_name='a b.png'\"")
    assert not moved.stderr and out(phone, f"cat '{path}'; ls /sdcard/a*; ls /sdcard/other") == "x\n/sdcard/other\n"
    phone.fork()


@pytest.mark.parametrize(("statement", "told"), [
    ("update {} --bind title:s:zz --where \"_display_name='a'\"", "keeps no title of them"),
    ("update {} --bind _display_name:s:b --where \"_display_name='a'\"", "b already exists"),
    ("update {} --bind _display_name:s:c", "UNIQUE constraint failed"),
    ("update {} --bind _display_name:s:../c --where \"_display_name='a'\"", "Invalid file name ../c"),
    ("update {} --bind _display_name:n: --where \"_display_name='a'\"", "Invalid file name"),
    ("update {} --bind relative_path:s:b/ --where \"_display_name='a'\"", "b is no folder"),
    ("update {} --bind _data:s:/data/x --where \"_display_name='a'\"", "doesn't appear under"),
    ("update {} --bind _id:i:99 --where \"_display_name='a'\"", "keeps no _id"),
    ("insert {} --bind _data:s:/sdcard/none.png", "keeps no row without one"),
    ("insert {} --bind _display_name:s:none.png", "keeps no row without one"),
    ("insert {} --bind _data:s:/sdcard/a --bind title:s:zz", "keeps no title of them"),
])  # fmt: skip
def test_what_files_cannot_hold_is_refused(phone, statement, told):
    run(phone, "rm -r /sdcard/*; echo x > /sdcard/a; echo y > /sdcard/b")
    assert told in run(phone, f"content {statement.format(FILES)}").stderr.decode()
    assert out(phone, "cat /sdcard/a /sdcard/b; ls /sdcard") == "x\ny\na\nb\n"


def test_a_file_that_is_there_may_be_scanned(phone):
    run(phone, "echo x > /sdcard/a.png")
    output = run(phone, f"content insert {FILES} --bind _data:s:/sdcard/a.png --bind mime_type:s:image/png")
    assert not output.stderr and out(phone, "cat /sdcard/a.png") == "x\n"


@pytest.mark.parametrize(("name", "kind"), [
    ("a.3gp", "video/3gpp"), ("a.M4A", "audio/mp4"), ("a.b.jpg", "image/jpeg"), ("a", "application/octet-stream"),
    ("png", "application/octet-stream"),
])  # fmt: skip
def test_types_are_androids(phone, name, kind):
    run(phone, f"touch /sdcard/{name}")
    row = f"content query {FILES} --projection mime_type --where \"_display_name='{name}'\""
    assert out(phone, row) == f"Row: 0 mime_type={kind}\n"


def test_settings_are_rows(phone):
    run(phone, "content insert --uri content://settings/system --bind name:s:screen_brightness --bind value:s:7")
    assert phone.storage.settings["system", "screen_brightness"] == "7"
    row = out(phone, "content query --uri content://settings/system --where \"name='screen_brightness'\"")
    assert row.endswith("name=screen_brightness, value=7\n")
    before = dict(phone.storage.settings)
    for columns in ("value:s:7", "name:s: --bind value:s:7", "name:s:no_value", "name:n: --bind value:s:7"):
        run(phone, f"content insert --uri content://settings/system --bind {columns}")
        assert phone.storage.settings == before
    assert out(phone, "settings get system no_value") == "null\n"


@pytest.mark.parametrize("name", ["window_animation_scale", "zen_duration", "wifi_on"])
def test_a_deleted_setting_is_gone_until_it_is_put(phone, name):
    row, gone = f"content query --uri content://settings/global/{name}", f"settings delete global {name}"
    assert f"name={name}, value=" in out(phone, row)
    assert out(phone, f"{gone}; {gone}; settings get global {name}; {row}") == (
        "Deleted 1 rows\nDeleted 0 rows\nnull\nNo result found.\n"
    )
    run(phone, f"settings put global {name} 7")
    assert out(phone, row).endswith(f"name={name}, value=7\n")
    run(phone, "content delete --uri content://settings/global")
    assert out(phone, f"settings get global {name}; settings list global") == "null\n"


def test_the_settings_command_and_the_provider_tell_the_same(phone):
    for namespace in ("system", "secure", "global"):
        listed = out(phone, f"settings list {namespace}").splitlines()
        rows = out(phone, f"content query --uri content://settings/{namespace} --projection name:value").splitlines()
        assert [row.partition("name=")[2].replace(", value=", "=") for row in rows] == listed


def test_the_call_log_is_kept(phone):
    assert out(phone, "content query --uri content://call_log/calls") == "No result found.\n"
    run(phone, "content insert --uri content://call_log/calls --bind number:s:5551 --bind type:i:1")
    assert "number=5551" in out(phone, "content query --uri content://call_log/calls")
    run(phone, "content delete --uri content://call_log/calls")
    assert out(phone, "content query --uri content://call_log/calls") == "No result found.\n"


def test_providers_that_are_not_there(phone):
    output = run(phone, "content query --uri content://com.not.there/x")
    assert b"Could not find provider: com.not.there" in output.stderr
    assert b"SQLiteException" in run(phone, "content query --uri content://sms --projection nothing").stderr
    assert run(phone, "content frobnicate").code == 1


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=40))
@settings(deadline=None)
def test_any_text_is_stored_and_read_back(text):
    phone = PHONE
    run(phone, "content delete --uri content://sms")
    run(phone, f"content insert --uri content://sms --bind address:s:1 --bind {shlex.quote(f'body:s:{text}')}")
    assert telephony.messages(phone.storage.database(MMS))[0].body == text
    assert f"body={text}," in out(phone, "content query --uri content://sms")
    quoted = shlex.quote("SELECT body FROM sms WHERE body = '" + text.replace("'", "''") + "'")
    assert out(phone, f"sqlite3 {MMS} {quoted}") == text + "\n"


PHONE = world_phone(270, 600)


# the contacts and calendar providers


def test_a_contact_is_made_through_the_provider(phone):
    add = "content insert --uri content://com.android.contacts"
    out = run(
        phone,
        f"{add}/raw_contacts --bind account_type:s:com.google --bind account_name:s:me@example.com &&"
        f" {add}/data --bind raw_contact_id:i:1 --bind mimetype:s:vnd.android.cursor.item/name"
        " --bind data1:s:'Ann Lee' --bind data2:s:Ann --bind data3:s:Lee &&"
        f" {add}/data --bind raw_contact_id:i:1 --bind mimetype:s:vnd.android.cursor.item/phone_v2 --bind data1:s:5551",
    )
    assert (out.code, out.stderr) == (0, b"")
    (ann,) = contacts.everybody(phone.storage.database(contacts.PATH))
    assert ann.name == "Ann Lee" and ann.phones[0][0] == "5551"

    def query(path, columns):
        return run(phone, f"content query --uri content://com.android.contacts/{path} --projection {columns}").stdout

    assert query("raw_contacts", "account_type") == b"Row: 0 account_type=com.google\n"
    assert query("data/phones", "display_name:data1:mimetype") == (
        b"Row: 0 display_name=Ann Lee, data1=5551, mimetype=vnd.android.cursor.item/phone_v2\n"
    )
    assert query("contacts", "display_name:has_phone_number") == b"Row: 0 display_name=Ann Lee, has_phone_number=1\n"
    run(phone, "content update --uri content://com.android.contacts/data --bind data1:s:Bo --where \"data2='Ann'\"")
    assert contacts.everybody(phone.storage.database(contacts.PATH))[0].first == "Ann"
    run(phone, f"{add}/data --bind raw_contact_id:i:1 --bind mimetype:s:a/own --bind data1:s:mine")
    assert b"mimetype=a/own, data1=mine" in query("data", "mimetype:data1")
    run(phone, "content delete --uri content://com.android.contacts/raw_contacts --where '_id=1'")
    assert query("data", "data1") == b"No result found.\n"
    assert run(phone, f"{add}/data --bind raw_contact_id:i:1 --bind data1:s:none").stderr


PROVIDER = "--uri content://com.android.contacts"


def made(phone, name="Ann Lee", number="(201) 555-0123"):
    """Adds a person as people do who type it: with the whole name alone."""
    add = f"content insert {PROVIDER}/data --bind raw_contact_id:i:$(content query {PROVIDER}/raw_contacts | wc -l)"
    item = "--bind mimetype:s:vnd.android.cursor.item"
    output = run(
        phone,
        f"content insert {PROVIDER}/raw_contacts --bind account_type:n:; {add} {item}/name --bind data1:s:'{name}';"
        f" {add} {item}/phone_v2 --bind data1:s:'{number}'",
    )
    assert (output.code, output.stderr) == (0, b"")


def test_a_whole_name_is_taken_apart(phone):
    for name in ("Ann Lee", "Cher", "Maria del Mar"):
        made(phone, name)
    db = phone.storage.database(contacts.PATH)
    assert [(p.first, p.last) for p in contacts.everybody(db)] == [("Ann", "Lee"), ("Cher", ""), ("Maria del", "Mar")]


@pytest.mark.parametrize(("path", "shown"), [
    ("phone_lookup/2015550123", "Ann Lee"), ("phone_lookup/%2B1%20201-555-0123", "Ann Lee"),
    ("phone_lookup/5550124", None), ("phone_lookup/nobody", None), ("contacts/filter/lee", "Ann Lee"),
    ("contacts/filter/%25", None), ("contacts/filter/_nn", None), ("data/phones/filter/20155", "Ann Lee"),
    ("contacts/1", "Ann Lee"), ("contacts/2/data", "Bo O'Hara"), ("raw_contacts/2/data", "Bo O'Hara"),
    ("contacts/filter/o'h", "Bo O'Hara"), ("contacts?directory=0", "Ann Lee"),
])  # fmt: skip
def test_people_are_looked_up(phone, path, shown):
    made(phone)
    made(phone, "Bo O'Hara".replace("'", "'\\''"), "911")
    rows = out(phone, f'content query --uri "content://com.android.contacts/{path}" --projection display_name')
    assert rows.splitlines()[0] == (f"Row: 0 display_name={shown}" if shown else "No result found.")


def test_the_stars_of_people_and_of_their_accounts_are_one(phone):
    made(phone)
    for table, star in (("contacts", 1), ("raw_contacts", 0), ("raw_contacts", 1), ("contacts", 0)):
        run(phone, f"content update {PROVIDER}/{table} --bind starred:i:{star}")
        assert contacts.everybody(phone.storage.database(contacts.PATH))[0].starred == bool(star)
        for other in ("contacts", "raw_contacts", "data"):
            assert f" starred={star}" in out(phone, f"content query {PROVIDER}/{other}")


def test_columns_that_clients_ask_for(phone):
    made(phone)
    asked = "lookup:photo_uri:photo_thumb_uri:times_contacted:in_visible_group"
    for path in ("contacts", "data", "data/phones", "phone_lookup/5550123"):
        assert "lookup=0r1-" in out(phone, f"content query {PROVIDER}/{path} --projection {asked}")
    refused = run(phone, f"content insert {PROVIDER}/raw_contacts --bind nickname:s:x")
    assert b"no column named nickname" in refused.stderr
    assert out(phone, f"content query {PROVIDER}/raw_contacts | wc -l") == "1\n"


@pytest.mark.parametrize("path", [
    "sms/bogus", "settings/bogus", "settings/system/bogus", "settings", "call_log/bogus", "call_log",
    "com.android.contacts/bogus", "com.android.contacts/bogus/1", "com.android.calendar/bogus", "media/external/bogus",
    "media", "media/external/images", "contacts/bogus",
])  # fmt: skip
def test_what_a_provider_does_not_know_is_not_all_that_it_has(phone, path):
    made(phone)
    deliver(phone, "1", "kept")
    run(phone, "content insert --uri content://call_log/calls --bind number:s:1; echo x > /sdcard/Pictures/a.png")
    before = phone.storage.snapshot()
    for verb in ("query", "delete"):
        output = run(phone, f"content {verb} --uri content://{path}")
        if path != "settings/system/bogus":
            assert f"IllegalArgumentException: Unknown URL content://{path}" in output.stderr.decode()
        assert "=" not in output.stdout.decode()
    assert phone.storage.snapshot() == before


def test_one_setting_by_its_name(phone):
    uri = "--uri content://settings/system"
    assert out(phone, f"content query {uri}/screen_brightness --projection value") == "Row: 0 value=102\n"
    run(phone, f"content delete {uri}/screen_brightness")
    assert out(phone, "settings get system screen_brightness; settings get system font_scale") == "null\n1.0\n"


@pytest.mark.parametrize(("arguments", "told"), [
    ("query --uri content://sms --bogus x", "Unsupported argument: --bogus"),
    ("query --uri content://sms --bind a:s:b", "Unsupported argument: --bind"),
    ("delete --uri content://sms --projection _id", "Unsupported argument: --projection"),
    ("query --uri content://sms --where", "No value after argument: --where"),
    ("insert --uri content://sms --bind date:l:99999999999999999999", 'For input string: "99999999999999999999"'),
    ("insert --uri content://sms --bind type:i:4294967296", 'For input string: "4294967296"'),
    ("insert --uri content://sms --bind type:i:x", 'For input string: "x"'),
    ("insert --uri content://sms --bind body:x:y", "Unsupported type: x"),
])  # fmt: skip
def test_arguments_of_content(phone, arguments, told):
    output = run(phone, f"content {arguments}")
    assert output.code == 1 and output.stderr.decode() == f"[ERROR] {told}\n"
    assert telephony.messages(phone.storage.database(MMS)) == []


def test_a_message_without_text_has_none(phone):
    run(phone, "content insert --uri content://sms --bind address:n: --bind body:n:")
    assert [(m.body, m.kind) for m in telephony.messages(phone.storage.database(MMS))] == [("", telephony.INBOX)]


def test_the_calendar_provider_keeps_what_programs_write(phone):
    uri = "--uri content://com.android.calendar/events"
    run(phone, f"content insert {uri} --bind calendar_id:i:1 --bind title:s:Yoga --bind dtstart:l:1697961600000")
    run(phone, f"content update {uri} --bind eventLocation:s:Gym --where \"title='Yoga'\"")
    shown = run(phone, f"content query {uri} --projection title:eventLocation:allDay").stdout
    assert shown == b"Row: 0 title=Yoga, eventLocation=Gym, allDay=0\n"
    run(phone, f"content delete {uri}")
    assert run(phone, f"content query {uri}").stdout == b"No result found.\n"
    assert run(phone, "content query --uri content://com.android.calendar/calendars").stdout == b"No result found.\n"


def test_events_are_found_by_when_they_take_place(phone):
    calendar, hour, day = "content://com.android.calendar", 3_600_000, 86_400_000
    noon = 20_000 * day + 12 * hour
    insert = f"content insert --uri {calendar}/events --bind calendar_id:i:1 --bind title:s:"
    run(phone, f"{insert}Lunch --bind dtstart:l:{noon} --bind dtend:l:{noon + hour}")
    run(phone, f"{insert}Fair --bind dtstart:l:{noon - 12 * hour} --bind allDay:i:1")
    run(phone, f"{insert}Gone --bind dtstart:l:{noon} --bind dtend:l:{noon + hour} --bind deleted:i:1")

    def titles(path):
        rows = out(phone, f"content query --uri {calendar}/instances/{path} --projection title").splitlines()
        return [row.split("=")[1] for row in rows if "=" in row]

    assert titles(f"when/{noon + 1}/{noon + 2}") == ["Fair", "Lunch"] and titles(f"when/{noon + hour + 1}/{noon + day}")
    assert titles(f"when/{noon + 2 * hour}/{noon + 3 * hour}") == ["Fair"] == titles(f"when/0/{noon - 1}")
    assert titles(f"when/0/{noon - day}") == [] == titles("whenbyday/1/2")
    assert titles(f"whenbyday/{2_440_588 + 20_000}/{2_440_588 + 20_000}") == ["Fair", "Lunch"]
    columns = "event_id:begin:end:startDay:endDay:startMinute:endMinute"
    shown = out(phone, f"content query --uri {calendar}/instances/when/0/{noon} --projection {columns}").splitlines()
    assert shown == [
        f"Row: 0 event_id=2, begin={noon - 12 * hour}, end={noon + 12 * hour}, startDay=2460588, endDay=2460588, "
        "startMinute=0, endMinute=1440",
        f"Row: 1 event_id=1, begin={noon}, end={noon + hour}, startDay=2460588, endDay=2460588, startMinute=720, "
        "endMinute=780",
    ]
    run(phone, f"{insert}Weekly --bind dtstart:l:{noon} --bind duration:s:P3600S --bind rrule:s:FREQ=WEEKLY")
    refused = run(phone, f"content query --uri {calendar}/instances/when/0/{noon}")
    assert refused.code == 1 and b"does not work out when events are repeated" in refused.stderr
    for path in ("instances", "instances/when", "instances/when/0", "instances/when/a/b"):
        assert b"Unknown URL" in run(phone, f"content query --uri {calendar}/{path}").stderr


def test_raw_contacts_are_shown_with_their_data(phone):
    made(phone)
    run(phone, f"content insert {PROVIDER}/raw_contacts --bind account_type:n:")
    asked = "--projection _id:data_id:mimetype:data1"
    rows = [
        "_id=1, data_id=1, mimetype=vnd.android.cursor.item/name, data1=Ann Lee",
        "_id=1, data_id=2, mimetype=vnd.android.cursor.item/phone_v2, data1=(201) 555-0123",
        "_id=2, data_id=NULL, mimetype=NULL, data1=NULL",
    ]
    shown = [f"Row: {index} {row}" for index, row in enumerate(rows)]
    assert out(phone, f"content query {PROVIDER}/raw_contact_entities {asked}").splitlines() == shown
    assert out(phone, f"content query {PROVIDER}/raw_contacts/1/entity {asked}").splitlines() == shown[:2]
    assert run(phone, f"content delete {PROVIDER}/raw_contact_entities").code == 1
    assert out(phone, f"content query {PROVIDER}/raw_contact_entities {asked}").splitlines() == shown


def test_data_belong_to_a_person_that_there_is(phone):
    made(phone)
    insert = f"content insert {PROVIDER}/data --bind data1:s:x"
    kind = "--bind mimetype:s:vnd.android.cursor.item/phone_v2"
    for binds, told in (
        (f"{kind} --bind raw_contact_id:i:9", b"FOREIGN KEY constraint failed"),
        (kind, b"IllegalArgumentException: raw_contact_id is required"),
        (f"{kind} --bind raw_contact_id:s:one", b"FOREIGN KEY constraint failed"),
        ("--bind raw_contact_id:i:1", b"IllegalArgumentException: mimetype is required"),
    ):
        refused = run(phone, f"{insert} {binds}")
        assert refused.code == 1 and told in refused.stderr
    assert out(phone, f"content query {PROVIDER}/data | wc -l") == "2\n"
    run(phone, f"content update {PROVIDER}/data --bind raw_contact_id:i:9 --bind mimetype:s:x --bind data5:s:kept")
    run(phone, f"content update {PROVIDER}/data --bind raw_contact_id:i:9")
    assert out(phone, f"content query {PROVIDER}/contacts/1/data --projection data5 | grep -c kept") == "2\n"


def test_events_are_shown_with_their_calendar(phone):
    calendar = "content://com.android.calendar"
    made_ = out(phone, f"content insert --uri {calendar}/calendars --bind account_name:s:me --bind calendar_color:i:5")
    assert made_ == out(phone, f"content insert --uri {calendar}/events --bind calendar_id:i:1 --bind title:s:Yoga")
    shown = out(phone, f"content query --uri {calendar}/events/1 --projection title:account_name:displayColor")
    assert shown == "Row: 0 title=Yoga, account_name=me, displayColor=5\n"
