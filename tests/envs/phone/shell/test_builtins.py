"""Commands of the shell itself: variables, subshells, tests, `printf`, arithmetic, and their errors."""

import time

import pytest

from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.shell import Output, Session, is_complete, run

NAME = "/system/bin/sh"

PRINTED = {
    # variables and their environment
    "x=1; export y=2 z; set | grep '^[xyz]='": "x=1\ny=2\n",
    "A=1 B=two env | grep '^[AB]='": "A=1\nB=two\n",
    "env -i C=3 sh -c 'echo $C'": "3\n",
    "x=1; unset x; echo ${x-gone}": "gone\n",
    "set -- a b c; shift; echo $1 $#": "b 2\n",
    "set -- a b c; shift 2; echo $*": "c\n",
    # running other commands
    "command -v ls": "/system/bin/ls\n",
    "command -v cd": "cd\n",
    "command echo hi": "hi\n",
    "which ls cat": "/system/bin/ls\n/system/bin/cat\n",
    "type cd ls": "cd is a shell builtin\nls is /system/bin/ls\n",
    "nohup echo on": "on\n",
    "timeout 5 echo quick": "quick\n",
    "timeout -s 9 5 echo quick": "quick\n",
    "exec echo last; echo never": "last\n",
    "echo 'echo $0 $1' > /data/s; sh /data/s one": "/data/s one\n",
    "echo 'echo piped' | sh": "piped\n",
    "sh -c 'echo $0 $1' zero one": "zero one\n",
    "sh -e -c 'echo flags'": "flags\n",
    "su root echo me": "me\n",
    "su -c 'echo me'": "me\n",
    "echo 'echo me' | su": "me\n",
    "eval 'x=3;' 'echo $x'": "3\n",
    "printf 'a b\\nc\\n' | xargs echo -": "- a b c\n",
    "printf 'a b\\nc\\n' | xargs -n 1 echo": "a\nb\nc\n",
    "printf 'a b\\0c' | xargs -0 -n 1 echo": "a b\nc\n",
    "printf 'a\\0\\0b c' | xargs -0 -n 1 echo -": "- a\n- \n- b c\n",
    "echo a b c d | xargs -E c -n1 echo -": "- a\n- b\n",
    "echo a bb c | xargs -s 10 echo": "a bb\nc\n",
    "xargs -r echo -; xargs echo +": "+\n",
    "echo a | xargs -t echo 2>&1": "echo a \na\n",
    "echo 1 2 | xargs -n1 sh -c 'exit 255'; echo $?; echo 1 | xargs false; echo $?": "124\n123\n",
    "seq 1 300000 | xargs | wc -l": "3\n",
    # what ends where: mksh's own output
    "break; echo a; f() { break; echo in; }; for i in 1 2; do f; (continue; echo sub); echo $i; done 2>&1":
        "a\n" + "".join(f"{NAME}: break: can't break\nin\n{NAME}: continue: can't continue\nsub\n{i}\n" for i in "12"),
    "for i in 1 2; do while continue 2; do :; done; echo no; done; while break; do :; done; echo $?": "0\n",
    "for i in 1 2; do for j in 1 2; do false; break 7; done 2>&1; echo no; done; echo $?":
        f"{NAME}: break: can only break 2 level(s)\n0\n",
    "for i in 1 2; do eval break; done; echo $i; for i in $(break; echo 1) 2; do echo $i; done": "1\n1\n2\n",
    "trap 'break; echo bye' EXIT; for i in 1 2; do echo $i; exit; done": "1\nbye\n",
    "x=1; echo 2 | read x; echo $x; for i in 1 2; do true | break; echo $i; true | exit 3; echo $?; done":
        "1\n1\n3\n2\n3\n",
    "false; eval ''; echo $?": "0\n",
    # `.` and `source`
    "echo 'echo in $#; x=5; break; set q; return 3' > /data/s; for i in 1 2; do . /data/s; echo $? $x $1; done":
        "in 0\n3 5 q\nin 1\n3 5 q\n",
    "cd /data; echo 'echo $1; set q' > s; source s a; echo [$1]; PATH=/data . s b; f() { . ./s c; echo f; }; f":
        "a\n[]\nb\nc\nf\n",
    "source nosuch 2>&1; command . nosuch 2>&1; echo $?; (. nosuch; echo no) 2>&1; . nosuch; echo no":
        "".join(f"{NAME}: {name}: nosuch: No such file or directory\n" for name in ("source", ".")) + "1\n"
        f"{NAME}: .: nosuch: No such file or directory\n",
    "echo 'exit 7' > /data/s; (. /data/s; echo no); echo $?; source 2>&1; . -x; echo no":
        f"7\n{NAME}: source: missing argument\n",
    # the options of its own commands
    "cd /sdcard; pwd -L; pwd -LP; pwd -PL": "/sdcard\n/storage/emulated/0\n/sdcard\n",
    "cd -P /sdcard; pwd; cd -- /data; cd -L /sdcard; pwd": "/storage/emulated/0\n/sdcard\n",
    "cd /sdcard/Download; cd Download Music": "/sdcard/Music\n",
    "x='a b'; y=it\\'s; z=; n=$'1\\n2'; set | grep '^[xyzn]='": "n=$'1\\n2'\nx='a b'\ny='it'\\''s'\nz=''\n",
    "export one='a b'; export -p | grep one; export | grep one": "export one='a b'\none\n",
    "readonly one=1; readonly -p; readonly": "readonly one=1\none\n",
    "f() { echo f; }; f=1; unset f; f; echo [$f]; f=2; unset -f f; echo [$f]; f 2>&1": "f\n[]\n[2]\n"
    f"{NAME}: f: inaccessible or not found\n",
    "set -- a b c; shift 1+1; echo $*; shift -- 1; echo [$*]": "c\n[]\n",
    "set -o errexit; set +e -u; echo $-; set - x; echo $*": "u\nx\n",
    "wait; echo $?; true & wait $!; echo $?; wait 99; echo $?": "0\n0\n127\n",
    "command -p echo one; command -V cd": "one\ncd is a shell builtin\n",
    "printenv HOME nope; echo $?": "/\n1\n",
    "env -u HOME -i A=1 env -0 | tail -c 4": "A=1\0",
    "set -u; x=1; echo $x ${y-none}; echo $y; echo never": "1 none\n",
    "readonly r=1; echo $r; r=2; echo never": "1\n",
    # what mksh has and POSIX has not
    "((i = 3)); ((i++)); echo $i; ((0)) || echo zero; let i=i*2 j=i+1; echo $i $j": "4\nzero\n8 9\n",
    "[[ abc == a* && ( 1 -lt 2 || -z x ) ]] && echo yes; v='a b'; [[ $v = 'a b' ]] && echo one": "yes\none\n",
    "[[ 'a*' == 'a*' ]] && echo same; cd /; [[ s* == 's*' ]] && echo literal": "same\nliteral\n",
    "cat <<< \"here $((1+1))\"; read a b <<< 'x y z'; echo $b": "here 2\ny z\n",
    "function f { echo f $1; }; f 1; function g() { echo g; }; g": "f 1\ng\n",
    "printf 'a\\0b c\\0' | while IFS= read -r -d '' x; do echo \"<$x>\"; done": "<a>\n<b c>\n",
    "read -n 2 x <<< hello; echo $x": "he\n",
    "env A=1 sh -c 'echo $A'; echo \"[$A]\"": "1\n[]\n",
    "umask; ulimit -n; echo $PPID; [ \"$RANDOM\" -lt 32768 ] && echo random": "000\n32768\n402\nrandom\n",
    "time -p sleep 61 2>&1": "real 61.00\nuser 0.00\nsys 0.00\n",
    "time true 2>&1 | tr -d 0-9": "    m.s real     m.s user     m.s system\n",
    "trap 'echo bye' 0; trap; trap - EXIT; trap": "trap -- 'echo bye' EXIT\n",
    "trap 'echo bye' EXIT; trap --; trap - EXIT": "trap -- 'echo bye' EXIT\n",
    # echo and printf
    "echo 'a\\tb\\0101\\\"'; echo -E 'a\\tb'; echo 'x\\cy' z; echo -q": 'a\tbA\\"\na\\tb\nx-q\n',
    "echo -n a; echo b": "ab\n",
    "echo -e 'a\\tb'": "a\tb\n",
    "echo -ne 'a\\n'": "a\n",
    "printf '%s-%s\\n' a b c": "a-b\nc-\n",
    "printf '%5d|%-5s|%05d\\n' 42 ab 7": "   42|ab   |00007\n",
    "printf '%x %X %o %c\\n' 255 255 8 word": "ff FF 10 w\n",
    "printf '%.2f %e\\n' 3.14159 1000": "3.14 1.000000e+03\n",
    "printf '%d\\n' \"'A\"": "65\n",
    "printf '100%%\\n'": "100%\n",
    "printf '%b' 'x\\ny\\n'": "x\ny\n",
    # reading
    "printf 'one two three\\n' | while read a b; do echo $a,$b; done": "one,two three\n",
    "echo line | { read x; echo got $x; }": "got line\n",
    # folders
    "cd /sdcard; cd /data; cd -; pwd": "/sdcard\n/sdcard\n",
    "cd /sdcard/Download; pwd -P": "/storage/emulated/0/Download\n",
    "cd /sdcard/Download/..; pwd": "/sdcard\n",
    # arithmetic
    "echo $((2 + 3 * 4)) $(((2 + 3) * 4)) $((7 / 2)) $((7 % 3)) $((-7 / 2))": "14 20 3 1 -3\n",
    "echo $((1 << 4)) $((0x1f)) $((010)) $((5 > 3)) $((5 == 3)) $((!0))": "16 31 10 1 0 1\n",
    "echo $((6 & 3)) $((6 | 3)) $((6 ^ 3)) $((~0)) $((1 && 0)) $((1 || 0))": "2 7 5 -1 0 1\n",
    "x=5; echo $((x + 1)) $(($x * 2))": "6 10\n",
    "echo $((2147483647 + 1))": "-2147483648\n",
    # expansion
    "x=path/to/file.txt; echo ${x##*/} ${x%.*} ${x#*/} ${x%%/*} ${#x}": "file.txt path/to/file to/file.txt path 16\n",
    "x=banana; echo ${x/an/-} ${x//an/-} ${x:1:3} ${x:3}": "b-ana b--a ana ana\n",
    "echo ${u:-d} ${u:=e} $u ${u:+f}": "d e e f\n",
    "echo {a,b}{1,2}": "a1 a2 b1 b2\n",
    "set -- 'a b' c; for i in \"$@\"; do echo \"<$i>\"; done": "<a b>\n<c>\n",
    "set -- 'a b' c; for i; do echo $i; done": "a b\nc\n",
    "echo $'tab\\there' $'\\x41\\u00e9'": "tab\there Aé\n",
    "echo `echo nested \\`echo back\\``": "nested back\n",
    "cat <<END\n$((1+1)) $HOME\nEND": "2 /\n",
    "cat <<'END'\n$HOME\nEND": "$HOME\n",
    "cat <<-END\n\t\tindented\n\tEND": "indented\n",
    "echo a\\\nb": "ab\n",
    "echo x # a comment": "x\n",
    "echo ${u:-\"a b\"} ${u:-'c d'} ${u:-$((1+1))} ${u:-`echo e`} \"${u:-f  g}\"": "a b c d 2 e f  g\n",
    "x=aXbXc; echo ${x%%X*} ${x/X/} ${x//X/}": "a abXc abc\n",
    "x=abcabca; echo ${x#*b*} ${x##*b*a} ${x%a*b*} ${x%%[a-b]*c?} ${x%b*} ${x#[!b]?}.": "cabca abc abca cabca.\n",
    r"echo ab | sed 's/\(.\)b/\2/' 2>&1": "sed: bad pattern 's/\\(.\\)b/\\2/': no group 2\n",
    # control flow
    "i=0; while true; do i=$((i+1)); [ $i = 2 ] && continue; [ $i = 4 ] && break; echo $i; done": "1\n3\n",
    "for i in 1 2; do for j in 1 2; do [ $j = 2 ] && break 2; echo $i$j; done; done": "11\n",
    "for i in 1 2; do for j in 1 2; do [ $j = 2 ] && continue 2; echo $i$j; done; done": "11\n21\n",
    "until [ ${#x} = 3 ]; do x=${x}a; done; echo $x": "aaa\n",
    "case abc in x) echo 1;; a*|b) echo 2;; *) echo 3;; esac": "2\n",
    "if false; then echo 1; elif true; then echo 2; else echo 3; fi": "2\n",
    "f() { echo $1; return 3; }; f x; echo $?": "x\n3\n",
    "f() { local_=1; }; f; echo $local_": "1\n",
    "(cd /data; x=1); pwd; echo ${x-unset}": "/\nunset\n",
    "{ echo a; echo b; } | tail -n 1": "b\n",
    "! false; echo $?": "0\n",
    "true && echo yes || echo no; false && echo yes || echo no": "yes\nno\n",
    "echo out; echo err >&2; echo both 2>&1": "out\nboth\n",
    "ls /nowhere 2>/dev/null; echo $?": "1\n",
}  # fmt: skip


@pytest.mark.parametrize(("script", "expected"), PRINTED.items())
def test_scripts_print(phone, script, expected):
    assert run(phone, script).stdout.decode() == expected


TRUE = [
    "-n a", "-z ''", "a = a", "a == a", "a != b", "1 -eq 1", "1 -ne 2", "1 -lt 2", "2 -gt 1", "1 -le 1", "1 -ge 1",
    "-e /sdcard", "-d /sdcard", "-f /data/f", "-s /data/f", "-r /data/f", "-w /data/f", "-L /sdcard", "a", "! -e /no",
    "a -a b", "'' -o b", "-c /dev/null", "/data/new -nt /data/f", "/data/f -ot /data/new",
]  # fmt: skip
TRUE += ["\\( a \\)", "\\( a -o '' \\) -a b", "a \\< b", "b \\> a"]
FALSE = ["", "-n ''", "-z a", "a = b", "1 -eq 2", "-f /sdcard", "-d /data/f", "-s /data/empty", "-e /no", "a -a ''"]


@pytest.fixture
def files(phone):
    run(phone, "echo x > /data/f; touch /data/empty; sleep 5; touch /data/new")
    return phone


@pytest.mark.parametrize(("condition", "code"), [*((c, 0) for c in TRUE), *((c, 1) for c in FALSE)])
def test_conditions(files, condition, code):
    assert run(files, f"[ {condition} ]").code == run(files, f"test {condition}").code == code


ERRORS = {
    "[ a b c d ]": (2, "unexpected operator/operand"),
    "[ 1 -eq x ]": (2, "x: bad number"),
    "echo $((1 / 0))": (1, "zero divisor"),
    "echo $((1 +))": (1, "unexpected end of expression"),
    "echo $((2 ? 3))": (1, None),
    "echo $((1 2))": (1, "unexpected '2'"),
    "echo $(((1 + 2))": (1, None),
    "echo $((@))": (1, "bad number or unexpected character"),
    "x=abc; echo ${x:1/0}": (1, "zero divisor"),
    "echo \"${x": (1, None),
    "echo $'open": (1, "no closing quote"),
    "echo ${x?is missing}": (1, "x: is missing"),
    "echo ${x:?}": (1, "parameter null or not set"),
    "echo >&9": (1, "9: bad file descriptor"),
    "cat < /nowhere": (1, "can't open /nowhere: No such file or directory"),
    "echo > /sdcard": (1, "can't create /sdcard: Is a directory"),
    "echo > /no/where": (1, "can't create /no/where: No such file or directory"),
    "nonsense": (127, "nonsense: inaccessible or not found"),
    "/sdcard": (126, "can't execute"),
    "sh -c": (1, "-c: argument not given"),
    "sh /nowhere": (127, "No such file"),
    "su 12345 id": (1, "invalid uid/gid"),
    "which ls nonsense": (1, None),
    "type nonsense": (1, None),
    "printf": (1, "usage: printf"),
    "cd /nowhere": (2, None),
    "timeout": (125, None),
    "if true; echo": (1, "syntax error"),
    "echo (": (1, "syntax error: unexpected"),
    "f() echo": (1, "'f' has no compound command"),
    "echo 'open": (1, "no closing quote"),
    "exit 7; echo never": (7, None),
    **{
        f"{name} {option}; echo never": (1, f"{NAME}: {name}: -{option[1]}: unknown option")
        for name in ("export", "readonly", "set", "shift", "trap", "unset", "break")
        for option in ("-q", "--nonsense")
    },
    "pwd -q": (1, f"{NAME}: pwd: -q: unknown option"),
    "pwd here": (1, "pwd: too many arguments"),
    "wait --nonsense": (1, "wait: --: unknown option"),
    "wait nope": (127, "wait: nope: argument must be %job or process id"),
    "command -q ls": (1, "command: -q: unknown option"),
    "type -q ls": (1, "-q: unknown option"),
    "cd -q": (2, f"{NAME}: cd: -q: unknown option"),
    "cd a b c": (2, "cd: too many arguments"),
    "cd a b": (2, "cd: bad substitution"),
    "set -o nope": (1, "set: nope: unknown option"),
    "shift; echo never": (1, "shift: nothing to shift"),
    "shift 1+": (1, "unexpected end of expression"),
    "exit nope": (1, "exit: nope: bad number"),
    "f() { return nope; }; f": (1, "return: nope: bad number"),
    "while true; do break 0; done; echo never": (1, "break: 0: bad value"),
    "xargs -I X echo X": (1, "xargs: Unknown option 'I'"),
    "xargs -n 0": (1, "xargs: -n < 1"),
    "xargs -p": (1, "xargs: /dev/tty: No such device or address"),
    "echo much | xargs -s 8": (1, "xargs: argument too long"),
    "xargs -s 3": (1, "xargs: command too long"),
    "sh -q -c true": (1, "-q: unknown option"),
    "local -i x=1": (1, "local: -i: unknown option"),
    "trap x NOPE": (1, "bad signal 'NOPE'"),
    "umask 022": (1, "fixed"),
    "ulimit -n 5": (1, "bad limit"),
    "let '1 +'": (1, "unexpected end of expression"),
    "export 1x=2": (1, "1x: is not an identifier"),
    "exec 3> /data/x": (1, "3: bad file descriptor"),
    "unset x; readonly x; unset x": (1, "x: is read only"),
    "toybox nonsense": (127, "toybox: Unknown command nonsense"),
    "[[ a == a": (1, "unexpected 'EOF'"),
    "echo $((5++)) $((x ? 1))": (1, None),
    "exit 256": (0, None),
    "exit -1": (255, None),
}  # fmt: skip


ENDING = (
    "export -z", "set -o nope", "unset -z", "export 1=2", "readonly 1=2", "readonly q=1; export q=2", "q=2", "q=2 true",
    "for q in 2; do echo never; done", "echo $((1/0))", "echo $((1+))", "echo $((q=2))", "echo ${x?}", "shift 9",
    "break x", ". /nosuch", ": > /nosuch/x", "exec > /nosuch/x", "exec 9>&7", ": >&7", "set > /nosuch/x",
)  # fmt: skip
GOING_ON = (
    "cd -z", "local 1=2", "read q <<< 2", "unset q", "let 1/0", "source /nosuch", "echo > /nosuch/x",
    "echo >&7", "command export -z", "trap x NOPE", "wait x",
)  # fmt: skip


@pytest.mark.parametrize("script", ENDING + GOING_ON)
def test_errors_of_expansions_and_of_special_commands_end_a_script_or_its_subshell(phone, script):
    """As mksh has it."""
    given = "readonly q=1; " * ("q" in script) + script
    after, around = run(phone, f"{given}; echo on"), run(phone, f"({given}; echo on); echo out")
    assert after.stdout == b"on\n" * (script in GOING_ON) and after.stderr.startswith(f"{NAME}: ".encode())
    assert around.stdout == after.stdout + b"out\n"


@pytest.mark.parametrize("command", ["cd -z", "export -z", "source /nosuch", "{ break x; }", "shift 9"])
def test_a_command_complains_where_its_redirection_leads(phone, command):
    output = run(phone, f"{command} 2>/data/said")
    assert output.stderr == b"" and run(phone, "cat /data/said").stdout.startswith(f"{NAME}: ".encode())


def test_descriptors_that_are_open_for_the_other_direction_are_empty_or_lose_all(phone):
    for script in ("echo lost 1< /system/build.prop", "ls /nosuch 2< /system/build.prop", "set -z 2<<< x", "cat <&1"):
        output = run(phone, script)
        assert output.stdout == output.stderr == b""
    assert run(phone, "cat 0> /data/q; exec 2< /data/q; nosuch; echo on").stdout == b"on\n"


def test_a_bracket_that_is_never_closed_is_no_pattern(phone, recwarn):
    assert b"brackets ([ ]) not balanced" in run(phone, "echo a | grep '[['").stderr and not recwarn


@pytest.mark.parametrize(("script", "expected"), ERRORS.items())
def test_errors_have_codes_and_words(phone, script, expected):
    output, (code, words) = run(phone, script), expected
    assert output.code == code and b"never" not in output.stdout
    assert words is None or words in output.stderr.decode() + output.stdout.decode()


@pytest.mark.parametrize("script", ["f() { f; }; f", "x() { eval x; }; x", "(" * 80 + "echo" + ")" * 80])
def test_what_is_nested_too_deep_ends(phone, script):
    output = run(phone, script)
    assert output.code != 0 and output.stderr


@pytest.mark.parametrize("script", ["while true; do true; done", "yes() { while :; do echo y; done; }; yes"])
def test_what_runs_for_ever_is_killed(phone, script):
    output = run(phone, script)
    assert output.code == 137 and output.stderr.endswith(b"Killed\n")


@pytest.mark.parametrize("script", [
    "seq 1 2000000 | wc -l; echo never", "echo " + "{a,b}" * 21 + " | wc -w", 'echo "[$(seq 1 2000000)]"',
    "(seq 1 2000000); echo never", "seq 1 2000000 & echo never", "trap 'echo never' EXIT; sh -c 'seq 1 2000000' | cat",
    "f() { f; }; f | cat; echo never",
])  # fmt: skip
def test_nothing_goes_on_with_what_is_missing_from_a_killed_command(phone, script):
    assert run(phone, script) == Output(b"", b"Killed\n", 137)


def test_an_exit_code_of_137_kills_nothing(phone):
    script = "sh -c 'exit 137'; echo $?; (exit 137); echo $?; exit 137"
    assert run(phone, script) == Output(b"137\n137\n", b"", 137)


def test_a_command_without_an_end_ends_when_its_reader_has_had_enough(phone):
    assert run(phone, "yes | head -n 2; echo $?") == Output(b"y\ny\n0\n", b"", 0)
    assert run(phone, "set -o pipefail; yes | head -n 1; echo $?").stdout == b"y\n141\n"


def test_a_walk_through_thousands_of_folders_ends(phone):
    output = run(phone, f"mkdir -p /sdcard/{'a/' * 1900}; find /sdcard | tail -n 1; du /sdcard | tail -n 1; echo done")
    assert output.code in (0, 137)


def test_a_format_takes_many_arguments_in_linear_time(phone):
    began = time.process_time()
    assert len(run(phone, "printf '%s' $(seq 1 300000)").stdout) > 1_000_000
    assert time.process_time() - began < 10


def test_a_session_keeps_variables_folder_and_functions():
    session = Session(Phone(90, 200))
    session.run("x=1; cd /sdcard; f() { echo f$x; }")
    assert session.run("f; pwd; echo $?").stdout == b"f1\n/sdcard\n0\n"
    assert session.run("false").code == 1 and session.run("echo $?").stdout == b"1\n"
    assert not session.ended
    assert session.run("exit 3").code == 3 and session.ended


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("echo a", True), ("echo 'a", False), ("if true", False), ("for i in 1 2", False), ("echo a |", False),
        ("echo $(", False), ("echo )", True), ("cat <<E\na", False), ("cat <<E\na\nE\n", True), ("f() {", False),
        ("", True),
    ],
)  # fmt: skip
def test_a_text_is_complete_if_no_more_lines_are_awaited(text, complete):
    assert is_complete(text) == complete


def test_messages_can_be_merged_in_order(phone):
    merged = run(phone, "echo a; nonsense; echo b", merged=True)
    assert merged.stdout.decode() == f"a\n{NAME}: nonsense: inaccessible or not found\nb\n" and merged.stderr == b""
