"""Expansion, splitting and subshells, held against what mksh prints."""

import pytest

from coach_gym.envs.phone.shell import run

PRINTED = {
    'x=abc; '
    'echo ${x/#/pre} ${x/%/post} "${x/#a/z}" "${x/%c/z}" ${x/#b/z} ${x//[ab]/_} ${x/b*/Q} ${x/"'
    '*"/y}; y=\'a*b\'; echo "${y/\\*/-}" "${y//\'*\'/-}"':
        'preabc abcpost zbc abz abc __c aQ abc\na-b a-b\n',
    'x=a.b.c; echo ${x//./} ${x//./ } "${x//./, }" ${x/./\\/} ${x//\\./-} "${x/./\'q\'}"; p=/s; '
    'echo ${x/./$p} ${x/$p/z} ${x/a/"b c"}':
        'abc a b c a, b, c a/b.c a-b-c aqb.c\na/sb.c a.b.c b c.b.c\n',
    'f() { echo $#; }; f ${x-"a b"} ${x:-\'c d\'} ${x-a b} "${x-a b}" ${x:-"a b"c d}; y=1; '
    'f ${y+"a b"} ${y:+a b}':
        '7\n3\n',
    'false & echo $?; wait $!; echo $?; true & wait $!; echo $?; exit 3 & echo on; '
    'cd / &  x=1 & echo [$x]':
        '0\n1\n0\non\n[]\n',
    'IFS=,; x=a,b,c; set -- $x; echo $#; echo "$*"; echo $*; IFS=; echo "$*"; unset IFS; '
    'echo "$*"; x=$*; echo "$x"; IFS=-; x=$*; echo "$x"; x=$@; echo "$x"; x="$@"; echo $x':
        '3\na,b,c\na b c\nabc\na b c\na b c\na-b-c\na b c\na b c\n',
    'f() { for i; do echo "<$i>"; done; }; IFS=:; p=/a:/b::/c:; f $p; f x$p; f ${p}y; f "$p"; '
    "IFS=' :'; p='a : b  c : '; f $p; p=' a'; f $p; p=': a'; f $p; IFS=$'\\n'; f $(printf 'a b\\nc\\n')":
        '</a>\n</b>\n<>\n</c>\n<x/a>\n</b>\n<>\n</c>\n</a>\n</b>\n<>\n</c>\n<y>\n</a:/b::/c:>\n<a>\n<b>\n<c>\n<a>\n<>'
        '\n<a>\n<a b>\n<c>\n',
    'IFS=:; set -- "a:b" c; f() { echo $#; }; f $*; f $@; f "$@"; f "$*"; f $1 $2; unset IFS; f $*':
        '3\n3\n2\n1\n3\n2\n',
    'while IFS=, read -r a b; do echo "$b $a"; done <<< $\'1,2\\n3,4\'; '
    'IFS=\';\' read x y <<< \'p;q;r\'; echo $y; echo "$IFS" | wc -c':
        '2 1\n4 3\nq;r\n4\n',
    'x=1; x+=2; echo $x; x+=\' 3\'; echo "$x"; unset y; y+=a; echo $y; y+=$x$x; echo $y; '
    'PATH+=:/q; echo ${PATH##*:}':
        '12\n12 3\na\na12 312 3\n/q\n',
    'set -u; z+=a; echo $z': 'a\n',
    'y=1; y=2 :; echo $y; y=3 export w=1; echo $y; y=4 true; echo $y; f() { echo $y; }; y=5 f; '
    'echo $y; y=6 eval :; echo $y':
        '2\n3\n3\n5\n3\n6\n',
    'pwd; cd /; echo $PWD $OLDPWD; cd - >/dev/null; echo "$PWD"; (cd /; echo $PWD);':
        '/data/t\n/ /data/t\n/data/t\n/\n',
    "trap 'echo p' EXIT; (echo s; exit 2); echo $?; (trap 'echo q' EXIT; exit 3); echo $?; "
    "x=$(trap 'echo r' EXIT; echo v); echo $x; trap":
        "s\n2\nq\n3\nv r\ntrap -- 'echo p' EXIT\np\n",
    "trap 'echo p; exit 9' EXIT; (trap 'exit 4' EXIT); echo $?": '4\np\n',
    'set -f; echo *; set +f; touch a; echo *; set -o noglob; echo *; echo $-| grep -c f': '*\na\n*\n1\n',
    'echo "`echo \\"a  b\\"`" `echo \\"a  b\\"` "$(echo "x  \\"y\\"")" "`echo \'$HOME\' \\\\$HOME \\$HOME`'
    '"':
        'a  b "a b" x  "y" $HOME $HOME /\n',
    "printf '%d %d %d %i\\n' 010 08 -017 0; printf '%d\\n' 0x; printf '%x\\n' 010": '8 0 -15 0\n0\n8\n',
    "x=abcabc; p='a*'; "
    'echo "${x#$p}" "${x##$p}" ${x##$p} "${x#"$p"}" "${x/$p/q}" "${x//\'a\'/-}" "${x%\'c\'}" "${x#"'
    'a"}" "${x%%b*}" "${x/b/\'q\'}" "${x/b/"q"}"':
        'bcabc  abcabc q -bc-bc abcab bcabc a aqcabc aqcabc\n',
    'x="it\'s"; echo "${x#it\\\'}" "${x%"\'s"}" "${x//\\\'/_}"': 's it it_s\n',
    'x=\'a/b\'; echo "${x//\\//_}" "${x/\'/\'/_}" "${x//"/"/_}"; y=\'/\'; echo "${x/$y/_}"': 'a_b a_b a_b\na_b\n',
    'x=\'a.b\'; echo "${x#*.}" ${x%.*} "${x/[.]/-}" "${x//[a-z]}" "${x//?/x}"': 'b a a-b . xxx\n',
    'x="${y:-a\'b}"; echo "$x"; x="${y:-"q"}"; echo $x; echo "${y:-\'z\'}" "${y:+\'z\'}"': "a'b\nq\n'z' \n",
    '(exit 5) & wait; echo $?; { sleep 0; echo a; } & wait; echo ${!}x | grep -c .': '0\na\n1\n',
    'printf \'echo "$0 $#" "$@"; exit 3\\n\' > s; chmod 755 s; ./s a \'b c\'; echo $?; '
    "printf '#!/nosuch\\n' > t; chmod +x t; ./t; echo $?; chmod -x s; ./s; echo $?; mkdir d; "
    './d; echo $?':
        './s 2 a b c\n3\n126\n126\n126\n',
    "printf 'x=2; echo $e\\n' > u; chmod +x u; x=1; export e=5; ./u; echo $x": '5\n1\n',
    "x=$'a\\nb\\nc'; echo \"${x/a*/_}\" \"${x//[^b]b/-}\" \"${x/%?c/.}\" | tr '\\n' '/'": "_ a/b/c a/b./",
}  # fmt: skip


@pytest.mark.parametrize(("script", "expected"), PRINTED.items())
def test_scripts_print_what_mksh_prints(phone, script, expected):
    assert run(phone, f"mkdir /data/t; cd /data/t; {script}").stdout.decode() == expected


def test_a_function_is_one(phone):
    assert run(phone, "f() { :; }; type f").stdout == b"f is a function\n"


@pytest.mark.parametrize("line", ["#!\\v", "#!\\302\\205", "#!", "#! \\r"])
def test_a_first_line_that_names_no_program_is_no_harm(phone, line):
    assert run(phone, f"printf '{line}\\necho on\\n' > /data/s; chmod +x /data/s; /data/s").code in (0, 126)
