"""The phone's commands on files and text: toybox's formats, and this machine's own tools as oracle."""

import datetime
import hashlib
import re
import shutil
import stat
import subprocess
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coach_gym.envs.phone.shell import run
from coach_gym.envs.phone.shell.language.process import MOST_OUTPUT
from coach_gym.envs.phone.shell.toybox.matching import ByPositions
from coach_gym.envs.profiles import world_phone

LINES = "b 2\na 10\nc 1\n\nlonger line with several words\na 10\n  leading\nB upper\n"
# of coreutils, grep and sed, which print the same as toybox
TEXT_COMMANDS = r"""cat f
cat f f
cat - < f
head -n 3 f
head -2 f
head -c 7 f
tail -n 2 f
tail -n +4 f
tail -c 5 f
head -n 1 f f
sort f
sort -r f
sort -u f
sort -k2 -n g
sort -t: -k2 h
uniq f
sort f | uniq -c
sort f | uniq -d
wc -l f
wc -w < f
wc -c f
cut -d' ' -f2 f
cut -c2-3 f
cut -d: -f1,3 h
cut -d: -f2- h
tr a-z A-Z < f
tr -d ' \n' < f
tr -s l < f
grep a f
grep -n a f
grep -c a f
grep -v a f
grep -i b f
grep -w a f
grep -x 'c 1' f
grep -o '[a-z]*' f
grep -E '^(a|c) [0-9]+$' f
grep '^a 1\{1\}0$' f
grep -F '2' f
grep -q a f; echo $?
grep zebra f; echo $?
grep -l a f g
grep a f g
grep -h a f g
grep -A1 c f
grep -B1 c f
grep -C1 longer f
grep -m1 a f
grep -e a -e c f
grep '[[:upper:]]' f
grep 'a\|c' f
sed 's/a/X/' f
sed 's/[0-9]/<&>/g' f
sed -n 2,3p f
sed ':a;N;$!ba;s/\n/ /g' f
sed -e :a -e '$!N;s/\n//;ta' f
sed 'y/abc/xyz/;y,\,/,\n;,' f
sed -n '$=' f; sed '/^$/=' f
sed '1i text' f; sed '$a\  the end' f; sed -e '2,3c\' -e 'new' f; sed '/a/c x' f; sed '2!i no' g
sed -n '/a/{p;=}' f; sed -n '2,${/a/!{s/b/B/;p}}' f; sed '/a/{' f; sed '}' f
sed -n 'H;${x;s/\n/,/g;s/^,//;p}' f
sed '1!G;h;$!d' f
sed 'n;d' f; sed '$!N;P;D' f; sed -n 'N;N;s/\n/+/gp' f; sed N f
sed '/10/s//ten/;s/\(l\)/[\1]/2' f
sed = f | sed 'N;s/\n/ /'
sed -n '2,$p' f g; sed -s -n '$=' f g; sed '$d' f g
sed '2q5' f; echo $?; sed -e 'i\' -e 'two' g; sed '# a remark' g
sed 's/a/x/;ta;s/$/!/;:a' f; sed '/2/bend;s/^/-/;:end;s/$/./' f; sed 's/x/y/;b;d' g
sed 2d f
sed '/a/d' f
sed -n '/a/p' f
sed -E 's/([a-z]) ([0-9]+)/\2 \1/' f
sed '$d' f
sed -n '$p' f
sed -e 's/a/b/' -n -e '' f; sed 2q f
sed 's/o/0/2' f
sed 's/a/b/;s/b/c/' f
seq 5
seq 2 3 11
seq 5 -2 1
seq -s, 4
base64 f
base64 f | base64 -d
md5sum f
sha1sum f
sha256sum f < f
basename /a/b.txt .txt
basename /a/b/
dirname /a/b /c
echo a b c | xargs -n1 echo x
printf 'a\0b' | xargs -0 echo
echo hi | tee t; cat t
find . -type f | sort
find . -name '*.txt' -o -name f | sort
find . -maxdepth 1 | sort
find . -mindepth 2 | sort
find . -type d -empty
find . ! -type d -size +0c | sort
find d -name '*.txt' -exec cat {} \;
find . -iname F | sort
find . -path './d/*' -type f
ls
ls -a
ls -1 d
ls -p
ls -d d
ls -r
ls d f
ls -R
ls -m
ls -A d
realpath -m --relative-to=. d 2>&1 | wc -l
mkdir -p x/y/z && rmdir x/y/z && find x
mkdir d; echo $?
rm -r d; ls
rm nothing; echo $?
rm -f nothing; echo $?
cp f copy && cat copy
cp f d && cat d/f
cp -r d e && find e | sort
cp -a d/. x 2>/dev/null; mkdir x; cp -a d/. x; ls x
cp d e; echo $?
mv f moved; ls
mv f d; ls d
mv d e; find e | sort
mv f g d; ls d
cp nothing x; echo $?
touch new; wc -c new
touch -c new; ls
touch -d '2023-10-15 01:02:03' f; stat -c %Y f
truncate -s 3 f; cat f
stat -c '%n %s %F' f d
test -s f && echo full; test -d d && echo folder; test f -nt nothing && echo newer
chmod 640 f; stat -c '%a %A' f
chmod u+x,o= f; stat -c %a f
chmod -R 700 d; stat -c %a d d/a.txt"""
BASH = shutil.which("bash")


def out(phone, command):
    return run(phone, command).stdout.decode()


def prepare(write, mkdir):
    files = {"f": LINES, "g": "x 3\ny 20\na 1\n", "h": "k:2:c\nl:1:b\nplain\n", "d/a.txt": "in a folder\n"}
    for name, text in files.items():
        write(name, text.encode())
    mkdir("d/empty")


@pytest.mark.skipif(BASH is None, reason="the tools of this machine are the oracle")
@pytest.mark.parametrize("command", TEXT_COMMANDS.splitlines())
def test_tools_print_what_this_machines_print(phone, command, tmp_path):
    (tmp_path / "d").mkdir()
    prepare(lambda name, data: (tmp_path / name).write_bytes(data), lambda name: (tmp_path / name).mkdir())
    work = "/data/local/tmp/work"  # on the shared storage permissions do not change
    prepare(lambda n, d: phone.storage.write(f"{work}/{n}", d), lambda n: phone.storage.mkdir(f"{work}/{n}"))
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}
    script = f"umask 022; {command}"
    host = subprocess.run([BASH, "-c", script], cwd=tmp_path, env=environment, capture_output=True)
    ours = run(phone, f"cd {work}; {command}")
    assert ours.stdout.decode() == host.stdout.decode(), ours.stderr


# Android's own formats


def test_long_listings_have_the_columns_that_androidworld_reads(phone):
    run(phone, "cd /sdcard/Download; printf 12345 > 'a file.txt'; mkdir folder; touch .hidden")
    listing = out(phone, "ls /sdcard/Download -ll -au")
    assert listing.splitlines()[0] == "total 16"
    rows = [line for line in listing.splitlines() if line.startswith("-")]
    parts = rows[-1].split(None, 8)
    assert parts[0] == "-rw-rw----" and parts[2:5] == ["u0_a158", "media_rw", "5"]
    assert parts[8] == "a file.txt" and len(rows) == 2
    assert datetime.datetime.fromisoformat(" ".join(parts[5:7])[:-3]) == phone.now
    short = out(phone, "ls -l /sdcard/Download").splitlines()
    assert short[1:] == [
        "-rw-rw---- 1 u0_a158 media_rw    5 2023-10-15 15:34 a file.txt",
        "drwxrwx--- 2 u0_a158 media_rw 4096 2023-10-15 15:34 folder",
    ]


def test_the_folders_that_links_are_in_can_be_entered(phone):
    folders = ("/mnt", "/mnt/user/0", "/storage", "/storage/emulated", "/storage/self")
    assert out(phone, f"for f in {' '.join(folders)}; do cd $f && test -d $PWD && echo *; done").splitlines() == [
        "sdcard user", "primary", "emulated self", "0", "primary",
    ]  # fmt: skip
    assert out(phone, "cd /storage/self/primary && cd .. && pwd; find /mnt -type l") == (
        "/storage/self\n/mnt/sdcard\n/mnt/user/0/primary\n"
    )


def test_sdcard_is_a_link_wherever_it_is_named(phone):
    run(phone, "echo one > /sdcard/x; echo two >> /storage/emulated/0/x; echo three >> /data/media/0/../0/x")
    for name in ("/sdcard/x", "/storage/self/primary/x", "/mnt/sdcard/./x", "//sdcard//x", "/sdcard/DCIM/../x"):
        assert out(phone, f"cat {name}") == "one\ntwo\nthree\n", name
    assert out(phone, "ls -l /sdcard").startswith("lrw-r--r--")
    assert "-> /storage/emulated/0\n" in out(phone, "ls -l /sdcard; ls -l / | grep sdcard")
    assert out(phone, "[ -L /sdcard ] && readlink /sdcard; cd /sdcard; pwd; pwd -P") == (
        "/storage/emulated/0\n/sdcard\n/storage/emulated/0\n"
    )
    assert "x" in out(phone, "ls /sdcard").splitlines()
    assert run(phone, "rm -r /sdcard").code == 1 and phone.storage.is_dir("/storage/emulated/0")


def test_messages_are_toyboxs(phone):
    run(phone, "cd /data/local/tmp; mkdir d; touch f")
    none = "No such file or directory"
    for command, message in (
        ("cat none", f"cat: none: {none}"), ("rm none", f"rm: none: {none}"), ("rm d", "rm: d: Is a directory"),
        ("mkdir d", "mkdir: 'd': File exists"), ("rmdir f", "rmdir: f: Not a directory"),
        ("mkdir x/y", f"mkdir: 'x/y': {none}"), ("cp none z", f"cp: bad 'none': {none}"),
        ("touch x/y", f"touch: 'x/y': {none}"), ("stat none", f"stat: 'none': {none}"),
        ("find none", f"find: 'none': {none}"), ("chmod 9 f", "chmod: bad mode '9'"),
        ("mv f x/y", f"mv: bad 'f': {none}"), ("cp f f", "cp: 'f' is 'f'"),
        ("mkdir", 'mkdir: Needs 1 argument (see "mkdir --help")'),
        ("cp f", 'cp: Needs 2 arguments (see "cp --help")'),
    ):  # fmt: skip
        output = run(phone, f"cd /data/local/tmp; {command}")
        assert (output.stderr.decode(), output.code) == (message + "\n", 1), command


def test_stat_says_what_toybox_says(phone):
    phone.storage.write("/data/local/tmp/f", b"hello\n")
    first, second, _, fourth, *times = out(phone, "stat /data/local/tmp/f").splitlines()
    assert first == "  File: /data/local/tmp/f"
    assert second == "  Size: 6\t Blocks: 8\t IO Blocks: 512\t regular file"
    assert fourth == "Access: (0644/-rw-r--r--)\tUid: ( 2000/   shell)\tGid: ( 2000/   shell)"
    assert times[1] == "Modify: 2023-10-15 15:34:00.000000000 +0000"
    assert out(phone, "stat -c %y /data/local/tmp/f") == "2023-10-15 15:34:00.000000000 +0000\n"


def test_owners_follow_from_the_place_and_can_be_changed(phone):
    package = next(iter(phone.apps))
    run(phone, f"touch /data/data/{package}/f; touch /sdcard/f")
    assert re.match(r"-rw-rw---- 1 (u0_a\d+) \1 ", out(phone, f"ls -l /data/data/{package}/f"))
    run(phone, f"chmod 777 -R /data/data/{package}; chown root:shell /data/data/{package}/f")
    assert out(phone, f"stat -c '%a %U %G' /data/data/{package}/f") == "777 root shell\n"
    run(phone, "chmod 600 /sdcard/f")
    assert out(phone, "stat -c %a /sdcard/f") == "660\n"  # a FUSE mount
    saved = phone.snapshot()
    run(phone, f"rm /data/data/{package}/f; touch /data/data/{package}/f")
    assert out(phone, f"stat -c %a /data/data/{package}/f") == "660\n"
    phone.restore(saved)
    assert out(phone, f"stat -c %a /data/data/{package}/f") == "777\n"


def test_an_apps_data_is_saved_and_brought_back_as_androidworld_does(phone):
    package = "org.tasks"
    source, saved = f"/data/data/{package}", f"/data/data/android_world/snapshots/{package}"
    before = {path: phone.storage.read(path) for path in phone.storage.files_below(source)}
    assert before
    run(phone, f"mkdir -p {saved}; cp -a {source}/. {saved}/")
    run(phone, f"rm -r {source}/*; echo rubbish > {source}/rubbish")
    commands = "rm -r {0}/*", "cp -a {1}/. {0}/", "restorecon -RD {0}", "chmod 777 -R {0}"
    for command in (command.format(source, saved) for command in commands):
        assert run(phone, command).code == 0, command
    assert {path: phone.storage.read(path) for path in phone.storage.files_below(source)} == before


def test_removing_what_a_pattern_does_not_match_fails(phone):
    phone.storage.mkdir("/data/sdcard_not")
    assert run(phone, "rm -r /storage/emulated/0/Download/*").code == 1
    run(phone, "touch /sdcard/Download/a '/sdcard/Download/b c'")
    assert run(phone, "rm -r /storage/emulated/0/Download/*").code == 0
    assert out(phone, "ls -1 /sdcard/Download") == ""


def test_storage_is_cleared_of_files_alone(phone):
    run(phone, "touch /sdcard/DCIM/a /sdcard/Download/b; mkdir /sdcard/empty")
    assert run(phone, "find /storage/emulated/0/ -mindepth 1 -type f -delete").code == 0
    assert out(phone, "find /storage/emulated/0/ -type f") == ""
    assert "empty" in out(phone, "ls /sdcard")


def test_deleting_a_folder_from_within_itself_is_refused(phone):
    run(phone, "cd /data/local/tmp; mkdir -p a/b")
    assert run(phone, "cp -r /data/local/tmp/a /data/local/tmp/a/b/c").code == 1
    assert run(phone, "mv /data/local/tmp/a /data/local/tmp/a/b").code == 1
    assert run(phone, "rm -rf /").code == 1
    assert out(phone, "find /data/local/tmp/a") == "/data/local/tmp/a\n/data/local/tmp/a/b\n"


def test_blocks_are_copied(phone):
    run(phone, "dd if=/dev/zero of=/data/local/tmp/z bs=1k count=3; printf abcdef > /data/local/tmp/f")
    assert phone.storage.read("/data/local/tmp/z") == bytes(3072)
    assert out(phone, "dd if=/data/local/tmp/f bs=2 skip=1 count=1; dd if=/data/local/tmp/f 2>/dev/null") == "cdabcdef"
    assert run(phone, "dd if=/dev/zero of=/data/local/tmp/z").code == 1
    run(phone, "cd /data/local/tmp; printf XY | dd of=f bs=1 seek=2 conv=notrunc; printf Z | dd of=new bs=1 seek=2")
    assert out(phone, "cd /data/local/tmp; cat f; xxd -p new") == "abXYef00005a\n"
    run(phone, "printf XY | dd of=/data/local/tmp/f bs=1 seek=2")
    assert out(phone, "cat /data/local/tmp/f") == "abXY"
    for refused in ("bs=1G seek=900000000", "swap=1", "conv=ucase"):
        assert run(phone, f"printf XY | dd of=/data/local/tmp/f {refused}").code == 1
    assert out(phone, "cat /data/local/tmp/f") == "abXY"


def test_devices_without_an_end_are_read_as_far_as_asked(phone):
    assert out(phone, "head -c 5 /dev/zero | xxd -p") == "0000000000\n"
    assert out(phone, "[ -c /dev/urandom ] && cat /dev/zero | wc -c") == "1048576\n"
    assert out(phone, "head -c 3000000 /dev/zero | wc -c") == "3000000\n"
    names = [out(phone, "tr -dc a-z0-9 < /dev/urandom | head -c 8") for _ in range(3)]
    assert len({*names}) == 3 and all(len(name) == 8 for name in names)
    drawn = phone.snapshot()
    first = out(phone, "dd if=/dev/urandom bs=4 count=1 | xxd -p")
    phone.restore(drawn)
    assert out(phone, "dd if=/dev/urandom bs=4 count=1 | xxd -p") == first


def test_yes_ends(phone):
    assert out(phone, "yes | head -n 3; yes no more | tail -n 1 | head -c 7") == "y\ny\ny\nno more"
    assert run(phone, "yes").code == 137 and len(run(phone, "yes " + "x" * 4000).stdout) <= MOST_OUTPUT


def test_files_are_given_their_size(phone):
    run(phone, "cd /data/local/tmp; echo abc > f; fallocate -l 1k f; fallocate -l 10 f")
    assert phone.storage.read("/data/local/tmp/f") == b"abc\n".ljust(1024, b"\0")
    for wrong in ("-l x f", "-l 9999M f", "-l 1 /", "f", "-l 5 /no/f"):
        assert run(phone, f"cd /data/local/tmp; fallocate {wrong}").code == 1, wrong


def test_no_pattern_takes_for_ever(phone):
    phone.storage.write("/data/local/tmp/a", b"a" * 2000 + b"\n")
    started = time.monotonic()
    for pattern in ("(a+)+b", "(a|a)*b", "(a*)*b", "a*a*a*a*a*a*b", "((a?)*)*c", "(x+x+)+y"):
        assert run(phone, f"grep -E '{pattern}' /data/local/tmp/a").code == 1, pattern
    assert run(phone, "sed -E 's/(a+)+b/x/' /data/local/tmp/a").code == 1
    assert out(phone, "grep -cE '(a|b)+$' /data/local/tmp/a; echo abcdx | grep -oE '(ab|cd)+'") == "1\nabcd\n"
    assert time.monotonic() - started < 10


PATTERNS = st.recursive(
    st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\b", "^", "$"]),
    lambda inner: st.tuples(inner, inner).map("".join) | st.tuples(inner, inner).map("(%s|%s)".__mod__)
    | st.tuples(inner, st.sampled_from(["*", "+", "?", "{1,3}"])).map("(?:%s)%s".__mod__),
    max_leaves=6,
)  # fmt: skip


@given(PATTERNS, st.text("abc ", max_size=8))
@settings(deadline=None)
def test_matching_by_positions_finds_what_backtracking_finds(pattern, text):
    assert bool(ByPositions(pattern, 0).search(text)) == bool(re.search(pattern, text))


def test_space_is_counted(phone):
    phone.storage.write("/data/local/tmp/big", bytes(10_000))
    assert out(phone, "cd /data/local; du -k tmp/big; du -sh tmp") == "12\ttmp/big\n16K\ttmp\n"
    header, row = out(phone, "df /sdcard/Download").splitlines()
    size, used, free = map(int, row.split()[1:4])
    assert header.split()[0] == "Filesystem" and size == used + free


@given(st.binary(max_size=300))
@settings(deadline=None)
def test_digests_and_copies_are_of_the_same_bytes(data):
    phone = PHONE
    phone.storage.write("/data/sdcard_x/f", data)
    assert out(phone, "md5sum /data/sdcard_x/f").split()[0] == hashlib.md5(data).hexdigest()
    run(phone, "cd /data/sdcard_x; cp f g; cat g > h; base64 h | base64 -d > i")
    assert phone.storage.read("/data/sdcard_x/i") == data
    assert run(phone, "wc -c < /data/sdcard_x/f").stdout == b"%d\n" % len(data)


PHONE = world_phone(270, 600)


def test_modes_are_those_of_the_host(phone):
    run(phone, "touch /data/local/tmp/f")
    for mode in (0o777, 0o640, 0o000, 0o711):
        run(phone, f"chmod {mode:o} /data/local/tmp/f")
        assert out(phone, "stat -c %A /data/local/tmp/f").strip() == stat.filemode(stat.S_IFREG | mode)
