"""The phone's shell as a language: held against this machine's own POSIX shell."""

import shlex
import shutil
import subprocess
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coach_gym.envs.phone.shell import COMMANDS, Session, is_complete, run
from coach_gym.envs.profiles import world_phone

SCRIPTS = [
    "echo a   b; echo 'a   b' \"c  d\" e\\ f",
    "echo one && echo two || echo three; false && echo four || echo five",
    "false; echo $?; true; echo $?; ! true; echo $?",
    "x=5; echo $x ${x} \"$x\" '$x' \\$x ${x}y $xy.",
    "x='a  b'; echo $x; echo \"$x\"; for w in $x; do echo \"<$w>\"; done",
    "x=; echo ${x:-none} ${x-none} ${y-none} ${y:=made} $y ${y:+there} ${#y}",
    "p=/a/b/c.tar.gz; echo ${p##*/} ${p#*/} ${p%.*} ${p%%.*} ${p%/*}",
    "echo $((1+2*3)) $(( (1+2)*3 )) $((7/2)) $((-7/2)) $((7%3)) $((1<2)) $((5==5)) $((2>3)) $((!0)) $((~5))",
    "a=3; b=4; echo $((a*b)) $(($a+b)); a=$((a+1)); echo $a",
    "echo $(echo inner $(echo deeper)) `echo back` \"$(printf 'x\\ny\\n\\n')\"",
    "for i in 1 2 3; do if [ $i = 2 ]; then continue; fi; echo $i; done",
    "i=0; while [ $i -lt 5 ]; do i=$((i+1)); [ $i -eq 3 ] && break; echo $i; done; echo end $i",
    "set -e; false || echo a; if false; then :; fi; ! true; echo b; false; echo never",
    "set -e; f() { false; echo inside; }; f || echo caught; (exit 2) || true; x=$(false) || echo s; echo end",
    "f() { set -e; echo a; false; echo b; }; f; echo never",
    "set -o pipefail; false | true; echo $?; true | true; echo $?; set +o pipefail; false | true; echo $?",
    "x=out; f() { local x=in y=2; echo $x $y; }; f; echo $x ${y-none}; g() { local x; x=3; f; echo $x; }; g; echo $x",
    "trap 'echo bye' EXIT; echo hi; exit 4",
    "sh -c 'trap \"echo inner\" EXIT; exit 3'; echo $?; sh -e -c 'false; echo never'; echo $?",
    "IFS=, read a b c <<END\n1,2,3,4\nEND\necho $a $b $c",
    "x=1 true; echo ${x-none}; y=0; y=5 read y < /dev/null; echo $y",
    "echo $((x=3)) $x $((x+=2)) $((x++)) $((++x)) $((x>6?10:20)) $x $((0&&(x=9))) $((1||(x=9))) $x $((1,2))",
    "cat /dev/null > in; echo text > in; echo $(< in); exec > kept; echo line; cat kept >&2",
    "set a 'b c'; echo $# $2; set -- ; echo $#; set -x; set +x; echo \"[$-]\" | tr -d 'hBcs'",
    "i=3; until [ $i -eq 0 ]; do echo $i; i=$((i-1)); done",
    "for i in a b; do for j in 1 2 3; do [ $j = 2 ] && continue 2; echo $i$j; done; done",
    "case hello in h*o) echo yes;; *) echo no;; esac; case x in a|b) echo ab;; [xyz]) echo xyz;; esac",
    "case 'a*' in 'a*') echo literal;; esac; case abc in 'a*') echo wrong;; a*) echo right;; esac",
    "f() { echo \"$# $1 $2\"; return 7; }; f x 'y z'; echo $?; f; echo $?",
    "f() { for a in \"$@\"; do echo \"<$a>\"; done; }; f 'a b' c ''; f",
    "( x=inner; echo $x; exit 3 ); echo $? ${x-unset}; { y=1; }; echo $y",
    "echo out; echo err >&2; { echo both; echo both >&2; } 2>/dev/null; echo gone >/dev/null",
    "echo a > f; echo b >> f; cat f; cat < f; cat <<END\nhere $((1+1)) '$HOME_NOT_SET'\nEND\necho after",
    "cat <<'END'\nraw $x `y`\nEND\ncat <<-END\n\ttabs\n\tgone\n\tEND",
    "echo one | cat | cat; echo a b | { read x y; echo $y $x; }",
    "x=1; { x=2; echo $x | cat; }; echo $x; x=3 true; echo $x",
    "set -- a 'b c' d; echo $# \"$2\"; shift; echo $1; shift 2; echo $#",
    "if false; then echo a; elif true; then echo b; else echo c; fi; if false; then :; fi; echo $?",
    "[ -n '' ] || echo empty; [ -z '' ] && echo zero; [ a != b ] && echo differ; [ ! -e nothing ] && echo absent",
    "[ 3 -gt 2 -a 1 -lt 2 ] && echo and; [ 1 -gt 2 -o 2 -gt 1 ] && echo or; test; echo $?; test x; echo $?",
    "mkdir d; touch d/b d/a d/.h d/c.txt; echo d/*; echo d/*.txt d/? d/[ab] d/.h* d/nothing*; echo 'd/*'",
    "mkdir 'a b'; touch 'a b/x y'; for f in a\\ b/*; do echo \"<$f>\"; done; x='a b/*'; echo \"$x\"",
    "echo a#b # comment\n# whole line\necho '#' \"#\"",
    "echo a; # end\necho b;\n\n\necho c &&\necho d |\ncat",
    "x=$(false); echo $?; echo $(exit 4); echo $?; x=$(exit 5) ; echo $?",
    "eval 'x=1; echo $x'; y='echo hi'; $y; eval \"$y there\"",
    "printf '%s-%s\\n' a b c; printf '%d|%5s|%-5s|%03d|%x\\n' 42 ab cd 7 255; printf 'a\\tb\\\\n%%\\n'",
    "exit 3; echo never", "echo $(exit 2)$?", "nothing_like_this 2>/dev/null; echo $?",
    "mkdir -p p/q; cd p/q; cd ..; x=$(cd q; echo in); echo $x; ls",
    "x=5; unset x; echo ${x-gone}; export y=2; sh -c 'echo $y $0 $1' name arg",
    "printf '%s\\n' \"a\\\\b\\\"c\\$d\\`e\" 'f'\"g\"h", "echo a\\\nb; echo 'c\nd'", "true & echo behind; wait",
    "x='*'; echo \"$x\" '*' \\*; echo ${x#\\*}. ; x=abcabc; echo ${x%b*} ${x%%b*} ${x#*b} ${x##*b}",
    "read line <<END\n  some words  \nEND\necho \"<$line>\"", "echo ${#} ${?} $((${#}+1))",
]  # fmt: skip


@pytest.fixture
def folder(phone):
    phone.storage.mkdir("/data/local/tmp/work")
    return phone


def out(phone, command, stdin=b""):
    return run(phone, command, stdin).stdout.decode()


BASH = shutil.which("bash")
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


@pytest.mark.skipif(BASH is None, reason="bash is the oracle")
@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_do_what_they_do_in_posix_shells(folder, script, tmp_path):
    host = subprocess.run([BASH, "--posix", "-c", script], cwd=tmp_path, env=ENVIRONMENT, capture_output=True)
    ours = run(folder, f"cd /data/local/tmp/work\n{script}")
    assert (ours.stdout.decode(), ours.code) == (host.stdout.decode(), host.returncode)


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
@example("'; reboot; '")
@example('$(reboot) `reboot` ${x} \\ "')
@example("😀\u200d\u00a0\u3000 \t\r\n end")
@settings(deadline=None)
def test_quoted_text_is_text(text):
    phone = PHONE
    assert run(phone, f"printf %s {shlex.quote(text)}").stdout == text.encode()
    if not text.startswith("-"):
        assert run(phone, "echo -E " + shlex.quote(text)).stdout == text.encode() + b"\n"
    name = "/data/local/tmp/" + (text.replace("/", "_") or "x")
    if name.rpartition("/")[2] not in (".", ".."):
        quoted = shlex.quote(name)
        run(phone, f"echo ok > {quoted}")
        assert phone.storage.read(name) == b"ok\n"
        assert run(phone, f"cat {quoted}; rm {quoted}; [ -e {quoted} ] || echo gone").stdout == b"ok\ngone\n"


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), max_size=4))
@settings(deadline=None)
def test_arguments_arrive_one_by_one(words):
    script = "f() { printf '<%s>' \"$@\"; }; f " + shlex.join(words)
    assert out(PHONE, script) == "".join(f"<{word}>" for word in words or [""])


@given(st.binary(max_size=200))
@settings(deadline=None)
def test_bytes_that_are_no_utf8_pass_through(data):
    text = data.replace(b"\0", b"").decode("utf-8", "surrogateescape")
    assert run(PHONE, "printf %s " + shlex.quote(text)).stdout == data.replace(b"\0", b"")
    assert run(PHONE, "cat", data).stdout == data


PARTS = [
    *"ab*?[]{}()|&;<>$`\"'\\ \n!=-#~/.01", "if ", "then ", "fi", "do ", "case x in ", "esac", "$(", "${", "$((",
    "<<a\n",
]  # fmt: skip


@given(st.lists(st.sampled_from(PARTS)).map("".join))
@settings(deadline=None, max_examples=200)
def test_no_text_is_too_strange(text):
    output = run(PHONE, text)
    assert 0 <= output.code <= 255
    is_complete(text)


WORDS = [
    "", "-", "--", "-a", "-n", "-e", "-c", "-p", "-t", "-S", "-r", "-rf", "--uri", "--bind", "--es", "-1", "0",
    "9" * 30, "1e9", "/", "/sdcard", "/sdcard/x", "..", "*", "😀", "\udcff", "a b", "'; reboot; '", "s/a/b/", "x:i:y",
    "content://sms/x", "org.tasks", "org.tasks/.Main", "get", "put", "list", "global", "start", "query", "install",
    "tap", "size", "+%Y", "%d", "%999999999s", "[", "]", "(", "!", "=", "-exec", ";", "{}", "+", "-name",
    "/data/data/org.tasks/databases/database",
]  # fmt: skip


@given(st.sampled_from(sorted(COMMANDS)), st.lists(st.sampled_from(WORDS), max_size=5), st.binary(max_size=20))
@settings(deadline=None, max_examples=300)
def test_no_arguments_are_too_strange(command, words, stdin):
    output = run(Fuzzed.phone(), f"{command} {shlex.join(words)}", stdin)
    assert 0 <= output.code <= 255


class Fuzzed:
    """One phone for many examples, put back to its beginning before each."""

    _phone, _fresh = None, None

    @classmethod
    def phone(cls):
        if cls._phone is None:
            cls._phone = world_phone(270, 600)
            cls._fresh = cls._phone.snapshot()
        cls._phone.restore(cls._fresh)
        return cls._phone


PHONE = world_phone(270, 600)


def test_faults_of_syntax_are_told(phone):
    for script in ("echo 'a", 'echo "a', "echo $(", "if true", "for x in a; do", "echo a | ", "fi", "a() ", "echo >"):
        output = run(phone, script)
        assert output.code == 1 and output.stderr.startswith(b"/system/bin/sh: "), script
        assert output.stdout == b""


def test_what_is_not_there_is_said_as_android_says_it(phone):
    output = run(phone, "frobnicate --all")
    assert output.stderr == b"/system/bin/sh: frobnicate: inaccessible or not found\n"
    assert output.code == 127
    phone.storage.write("/data/local/tmp/tool", b"#!/bin/sh\n")
    assert run(phone, "/data/local/tmp/tool").code == 126
    assert run(phone, "/system/bin/echo hi").stdout == b"hi\n"


def test_endless_scripts_are_killed(phone):
    started = time.monotonic()
    doubling = "x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done"
    for script in ("while true; do :; done", "f() { f; }; f", "f() { eval f; }; f", doubling):
        assert run(phone, script).code != 0, script
    assert run(phone, "while true; do sh -c 'while true; do :; done'; done").code == 137
    assert run(phone, "echo well").stdout == b"well\n"
    assert time.monotonic() - started < 60


def test_nothing_of_the_host_can_be_reached(phone, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("host")
    for script in (f"cat {secret}", f"ls {tmp_path}", f"cat < {secret}", f"cp {secret} /sdcard/x", f"find {tmp_path}"):
        output = run(phone, script)
        assert b"host" not in output.stdout and output.code != 0
    run(phone, f"echo x > {tmp_path}/made; mkdir -p {tmp_path}/made; touch {tmp_path}/made")
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]


def test_extensions_that_androids_shell_has(phone):
    assert out(phone, "x=abcdef; echo ${x:1:3} ${x:2} ${x: -2}") == "bcd cdef ef\n"
    assert out(phone, "x=abcdef; echo ${x/[b-d]/-} ${x//[b-d]/-}") == "a-cdef a---ef\n"
    assert out(phone, "echo p{1,2}{x,y} {} '{a,b}'") == "p1x p1y p2x p2y {} {a,b}\n"
    assert out(phone, "cd nowhere; echo $?; cd /sdcard; cd ..; pwd; cd -").startswith("2\n/\n")
    assert out(phone, "echo $((2147483647+1)) $((1<<31))") == "-2147483648 -2147483648\n"


BRACES = {  # by mksh
    "{a,{b,c}} a{b,c{d,e}f,g}h": "a b c abh acdfh acefh agh",
    "{{a,b},{c,d}} {a,{b,{c,d}}}": "a b c d a b c d",
    "{a} {} {a}{b,c} {{a,b}} {x{a,b}}{c,d}": "{a} {} {a}b {a}c {{a,b}} {x{a,b}}c {x{a,b}}d",
    "{{a},b} {a}},{b,c}": "{a} b {a}},b {a}},c",
    "x{,y} {a,}. {,}z a{,b}{,c}": "x xy a. . z z a ac ab abc",
    "{a,b {a,{b} {a,b}{c{d,e} {a,b}}": "{a,b {a,{b} a{c{d,e} b{c{d,e} a} b}",
    "{a,'b,c'} {a\\,b} \\{a,b} {a\\},b} {a,b}'{c,d}'": "a b,c {a,b} {a,b} a} b a{c,d} b{c,d}",
    '"$x"{,.bak} {$x,c} {$y,c} $z': "1 2 1 2.bak {1 2,c} p q c r s",
    "~{,/x} {~,x}/y ~/{a,b} $t": "~ ~/x ~/y x/y /home/a /home/b ~",
    "/syste{m,n}* /{a,c}*": "/system /systen* /a* /c*",
}


@pytest.mark.parametrize(("words", "expected"), BRACES.items())
def test_braces_stand_for_what_they_do_in_androids_shell(phone, words, expected):
    assert out(phone, f"HOME=/home; t='~'; x='1 2'; y=p,q; z='{{r,s}}'; echo {words}") == f"{expected}\n"


@pytest.mark.parametrize("word", [
    "{a," * 50_000, "{}" * 100_000, "{" * 100_000 + "a,b" + "}" * 100_000, "{a,b}" + "}," * 100_000,
    "{" + "a," * 100_000 + "b}",
])  # fmt: skip
def test_braces_take_linear_time(phone, word):
    began = time.process_time()
    assert run(phone, f"echo {word} > /sdcard/words; wc -w < /sdcard/words").code == 0
    assert time.process_time() - began < 2


@pytest.mark.parametrize("word", ["{a,b}" * 30, "{,}" * 25, "{a," * 5000 + "b" + "}" * 5000])
def test_braces_that_stand_for_too_much_end_the_script(phone, word):
    assert run(phone, f"echo {word}; echo never").code == 137


def test_a_declared_value_is_neither_split_nor_taken_apart(phone):
    script = (
        'y=\'a b*\'; export x=$y q={a,b} h=~/c; readonly w=$y; f() { local v=$y; echo "$v"; }; f; echo "$x $w $q $h"'
    )
    assert out(phone, f"HOME=/home; {script}") == "a b*\na b* a b* {a,b} /home/c\n"


def test_a_session_remembers(phone):
    session = Session(phone)
    session.run("cd /sdcard; x=5; f() { echo f $x; }")
    assert session.run("f; pwd").stdout == b"f 5\n/sdcard\n"
    assert not session.ended
    assert session.run("exit 4").code == 4 and session.ended


def test_unfinished_lines_are_known(phone):
    for text in ("if true", "echo 'a", "for i in 1", "echo a |", "echo $(date", "f() {"):
        assert not is_complete(text), text
    for text in ("echo a", "if true; then echo; fi", "fi", ""):
        assert is_complete(text), text


def test_messages_and_output_keep_their_order_when_they_are_one(phone):
    output = run(phone, "echo 1; cat nothing; echo 2 >&2; echo 3", merged=True)
    assert output.stdout == b"1\ncat: nothing: No such file or directory\n2\n3\n" and output.stderr == b""


def test_redirections(phone):
    run(phone, "cd /sdcard; echo out > a 2> b; { echo o; echo e >&2; } > both 2>&1; echo more >> a; nothing 2> err")
    contents = [phone.storage.read(f"/storage/emulated/0/{name}") for name in ("a", "b", "both", "err")]
    assert contents[:3] == [b"out\nmore\n", b"", b"o\ne\n"] and contents[3].endswith(b"not found\n")
    output = run(phone, "echo x > /sdcard; echo y > /nowhere/x; cat < /sdcard/none; echo $?")
    assert output.stderr.decode().splitlines() == [
        "/system/bin/sh: can't create /sdcard: Is a directory",
        "/system/bin/sh: can't create /nowhere/x: No such file or directory",
        "/system/bin/sh: can't open /sdcard/none: No such file or directory",
    ]
    assert output.stdout == b"1\n"


def test_commands_are_quick(phone):
    for command in ("whoami", "settings get global wifi_on", '[ -d "/sdcard" ]', "echo hi | cat"):
        run(phone, command)
        times = []
        for _ in range(50):
            started = time.process_time()
            run(phone, command)
            times.append(time.process_time() - started)
        assert sorted(times)[25] < 0.001, command
