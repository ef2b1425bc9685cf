"""Commands on files, texts and the system: what they print, what they change, and how they complain."""

import io
import tarfile
from datetime import datetime

import pytest

from coach_gym.envs.phone.intents import VIEW, Intent
from coach_gym.envs.phone.notifications import Notification
from coach_gym.envs.phone.packages import place
from coach_gym.envs.phone.shell import run
from coach_gym.envs.phone.shell.commands.permissions import GROUPS
from coach_gym.envs.phone.shell.language import interpreter

CLOCK = "com.google.android.deskclock"
SETUP = r"""
mkdir -p /data/t/sub
cd /data/t
printf 'pear\napple\nfig\napple\n' > fruit
printf '10\n9\n2\n' > numbers
printf 'a:1:x\nb:2:y\n' > table
echo inner > sub/file
dd if=/dev/zero of=big bs=1024 count=2
touch -d 2020-01-02 old
"""


@pytest.fixture
def files(phone):
    assert run(phone, SETUP).code == 0
    return phone


def out(phone, script):
    return run(phone, f"cd /data/t; {script}").stdout.decode()


PRINTED = {
    # text
    "sort fruit": "apple\napple\nfig\npear\n",
    "sort -u fruit": "apple\nfig\npear\n",
    "sort -r fruit": "pear\nfig\napple\napple\n",
    "sort numbers": "10\n2\n9\n",
    "sort -n numbers": "2\n9\n10\n",
    "sort -t : -k 2 -r table": "b:2:y\na:1:x\n",
    "sort -o sorted fruit; head -n 1 sorted": "apple\n",
    "sort fruit | uniq -c | tr -s ' '": " 2 apple\n 1 fig\n 1 pear\n",
    "sort fruit | uniq -d": "apple\n",
    "sort fruit | uniq -u": "fig\npear\n",
    "head -n 2 fruit": "pear\napple\n",
    "head -c 3 fruit": "pea",
    "tail -n 1 fruit": "apple\n",
    "tail -n +3 fruit": "fig\napple\n",
    "wc -l fruit numbers | tr -s ' '": " 4 fruit\n 3 numbers\n 7 total\n",
    "wc -c < fruit": "21\n",
    "cut -d : -f 2 table": "1\n2\n",
    "cut -d : -f 1,3 table": "a:x\nb:y\n",
    "cut -c 1-2 fruit": "pe\nap\nfi\nap\n",
    "tr a-z A-Z < fruit | head -n 1": "PEAR\n",
    "tr -d p < fruit | head -n 1": "ear\n",
    "seq 3; seq 2 4; seq 1 2 5": "1\n2\n3\n2\n3\n4\n1\n3\n5\n",
    "seq 3 -1 1": "3\n2\n1\n",
    "seq -w 9 10; seq -s , 3": "09\n10\n1,2,3\n",
    "cat -e old fruit | head -n 1; printf 'a\\tb\\001' | cat -t": "pear$\na^Ib^A",
    "tac numbers; rev < numbers; printf 'x\\n\\ny\\n' | nl": "2\n9\n10\n01\n9\n2\n     1\tx\n       \n     2\ty\n",
    "paste -sd+ numbers; paste -d , numbers numbers": "10+9+2\n10,10\n9,9\n2,2\n",
    "printf 'a\\nb\\n' > l; printf 'b\\nc\\n' > r; comm l r; comm -12 l r": "a\n\t\tb\n\tc\nb\n",
    "wc -L numbers; cut -d : -f 1,2 -O - table; head -v -n 1 numbers": "2 numbers\na-1\nb-2\n==> numbers <==\n10\n",
    "grep -r --include='fr*' fig .; printf 'pear\\nfig\\n' > p; grep -c -f p fruit": "./fruit:fig\n2\n",
    # arithmetic of words
    "expr 2 + 3 \\* 4; expr \\( 2 + 3 \\) \\* 4; expr -7 / 2; expr b \\> a; expr 10 \\< 9": "14\n20\n-3\n1\n0\n",
    "expr abc : 'a\\(.\\)'; expr abc : '[a-z]*'; expr abc : x; expr '' '|' d": "b\n3\n0\nd\n",
    # bytes
    "printf 'one\\n' | xxd; printf 'one\\n' | xxd -p | xxd -r -p":
        "00000000: 6f6e 650a                                one.\none\n",
    "printf 'a\\n' | od -c; printf ab | od -An -tx1": "0000000   a  \\n\n0000002\n 61 62\n",
    "cmp fruit numbers; cmp fruit fruit && echo same": "fruit numbers differ: char 1, line 1\nsame\n",
    "echo peas > p; cmp p fruit; cmp -l p fruit 2>&1": (
        "p fruit differ: char 4, line 1\n4 163 162\ncmp: EOF on p after byte 5\n"
    ),
    "sqlite3 -cmd 'SELECT 1' :memory: 'SELECT 2'": "1\n2\n",
    "sqlite3 :memory: .tables 'SELECT 3 -- x' 'SELECT 4'": "\n3\n4\n",
    "echo 'SELECT 6;' | sqlite3 -cmd 'SELECT 5' :memory:": "5\n6\n",
    "cmp fruit < fruit && cmp fruit fruit 5 11; cmp -s fruit numbers; echo $?": (
        "fruit fruit differ: char 1, line 1\n1\n"
    ),
    "printf 'one\\n' | xxd -c 3 -g 0 -o 16; printf abc | xxd -c 2": (
        "00000010: 6f6e65  one\n00000013: 0a      .\n00000000: 6162  ab\n00000002: 63    c\n"
    ),
    "printf 'one two' | xxd -i -c 4; printf 'one two' | xxd -i | xxd -r -i; printf abc | xxd -p -c 0": (
        "  0x6f, 0x6e, 0x65, 0x20,\n  0x74, 0x77, 0x6f\none two616263\n"
    ),
    "diff -q fruit numbers; diff fruit fruit; printf 'x\\n' > a; printf 'y\\n' > b; diff a b":
        "Files fruit and numbers differ\n--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n",
    "file fruit sub old nope; printf 'ab\\0hello\\0' | strings": "fruit: ASCII text\nsub:   directory\nold:   empty\n"
        "nope:  cannot open: No such file or directory\nhello\n",
    # archives
    "tar -czf t.tgz sub fruit; tar -tf t.tgz; mkdir o; tar xf t.tgz -C o; cat o/sub/file; ls o":
        "sub/\nsub/file\nfruit\ninner\nfruit\nsub\n",
    "tar c sub | tar t; tar -cf x.tar -C sub file; tar -tf x.tar": "sub/\nsub/file\nfile\n",
    "gzip fruit; ls f*; zcat fruit.gz | head -n 1; gunzip fruit.gz; head -n 1 fruit": "fruit.gz\npear\npear\n",
    # what there is of the machine
    "nproc; getenforce; hostname; mount | grep -c /data": "2\nPermissive\nlocalhost\n1\n",
    "f=$(mktemp -p .); [ -f $f ] && echo made; d=$(mktemp -d -p .); [ -d $d ] && [ $d != $f ] && echo too":
        "made\ntoo\n",
    "md5sum fruit > sums; md5sum -c sums; echo >> fruit; md5sum -c sums": "fruit: OK\nfruit: FAILED\n",
    "mkdir -m 700 -v q; stat -c %a q": "mkdir: created directory 'q'\n700\n",
    "cp -v old x; rm -v x": "cp 'old'\nrm 'x'\n",
    "sed -i.bak 's/fig/kiwi/' fruit; grep -c kiwi fruit; grep -c fig fruit.bak": "1\n1\n",
    "echo hi | tee copy more; cat copy more; echo again | tee -a copy; cat copy": "hi\nhi\nhi\nagain\nhi\nagain\n",
    "echo hello | base64; echo aGVsbG8K | base64 -d": "aGVsbG8K\nhello\n",
    "grep -n apple fruit": "2:apple\n4:apple\n",
    "grep -c apple fruit": "2\n",
    "grep -v apple fruit": "pear\nfig\n",
    "grep -i APPLE fruit | head -n 1": "apple\n",
    "grep -l a *": "fruit\ntable\n",
    "grep -o 'p[a-z]' fruit": "pe\npp\npp\n",
    "grep -E '^(fig|pear)$' fruit": "pear\nfig\n",
    "grep -F a:1 table": "a:1:x\n",
    "grep -A 1 pear fruit": "pear\napple\n",
    "grep -B 1 fig fruit": "apple\nfig\n",
    "grep -r inner .": "./sub/file:inner\n",
    "grep -w app fruit; echo $?": "1\n",
    "sed 's/apple/plum/' fruit | sort -u": "fig\npear\nplum\n",
    "sed -n '2p' fruit; sed '1,3d' fruit; sed '$d' numbers": "apple\napple\n10\n9\n",
    "sed -n '/fig/,$p' fruit": "fig\napple\n",
    "sed 's/p/P/2g' fruit | head -n 2": "pear\napPle\n",
    "sed -E 's/(.)(.)/\\2\\1/' numbers": "01\n9\n2\n",
    "sed -i 's/fig/date/' fruit; grep -c date fruit": "1\n",
    "head -c 1k /dev/zero | wc -c; head -c 2K /dev/zero | wc -c; head -c 1kd /dev/zero | wc -c": "1024\n2048\n1000\n",
    "tail -c 1b big | wc -c; head -n 1k fruit | wc -l; tail -n +2c fruit | wc -l": "512\n4\n3\n",
    "truncate -s 1M f; stat -c %s f; truncate -s +1k f; stat -c %s f": "1048576\n1049600\n",
    "for s in -1 '<3' '>9' /4 %5 0; do truncate -s $s numbers; stat -c %s numbers; done": "6\n3\n9\n8\n10\n0\n",
    "truncate -c -s 1 none; ls none; fallocate -l 3m f; dd if=/dev/zero of=g bs=1m count=2; stat -c %s f g":
        "3145728\n2097152\n",
    "xxd -l 1b big | wc -l; od -N 1k big | wc -l": "32\n65\n",
    "sed 2q fruit": "pear\napple\n",
    "sed '2,3d' fruit; sed '3,1d' numbers": "pear\napple\n10\n9\n",
    "sed -n '/apple/,/fig/p' fruit": "apple\nfig\napple\n",
    "sed '/apple/!d' fruit": "apple\napple\n",
    "sed -n '2,$p' fruit numbers": "apple\nfig\napple\n10\n9\n2\n",
    "sed -i '1d' fruit numbers; cat fruit numbers": "apple\nfig\napple\n9\n2\n",
    "echo aGVs bG8K | base64 -di; echo '!aGkK' | base64 -d -i": "hello\nhi\n",
    "sed = numbers | head -n 2": "1\n10\n",
    # files
    "cp fruit new; mv new newer; ls newer; rm newer; ls": "newer\nbig\nfruit\nnumbers\nold\nsub\ntable\n",
    "cp -r sub copy; cat copy/file": "inner\n",
    "mkdir -p a/b/c; rmdir a/b/c; ls -R a": "a:\nb\n\na/b:\n",
    "rm -r sub; ls -d sub 2>&1": "ls: sub: No such file or directory\n",
    "rm -f nothing; echo $?": "0\n",
    "basename /a/b.txt .txt; dirname /a/b.txt": "b\n/a\n",
    "realpath sub/../fruit /sdcard": "/data/t/fruit\n/storage/emulated/0\n",
    "readlink /sdcard; readlink -f /sdcard/x": "/storage/emulated/0\n/storage/emulated/0/x\n",
    "chmod 640 fruit; stat -c %a fruit; chmod u+x,o=r fruit; stat -c %A fruit": "640\n-rwxr--r--\n",
    "chown shell:shell fruit; stat -c '%U %G' fruit": "shell shell\n",
    "touch -d '2021-03-04 05:06:07' fruit; stat -c %y fruit | cut -c 1-19": "2021-03-04 05:06:07\n",
    "touch -r old fruit; date -r fruit +%Y": "2020\n",
    "touch -d @86400 fruit; date -r fruit +%F": "1970-01-02\n",
    "truncate -s 4 fruit; cat fruit": "pear",
    "truncate -s 5 empty; wc -c < empty": "5\n",
    "dd if=big of=cut bs=512 count=2 2>/dev/null; wc -c < cut": "1024\n",
    "echo hello | md5sum | cut -c 1-8; echo -n | sha1sum | cut -c 1-8": "b1946ac9\nda39a3ee\n",
    "ls -S big fruit numbers": "big\nfruit\nnumbers\n",
    "ls -1 -t old fruit | tail -n 1": "old\n",
    "ls -a sub": ".\n..\nfile\n",
    "ls -p": "big\nfruit\nnumbers\nold\nsub/\ntable\n",
    "du -s sub | cut -f 2": "sub\n",
    "stat -c '%s %n %F' big": "2048 big regular file\n",
    "find . -type f -size +1k": "./big\n",
    "find . -name 'f*' | sort": "./fruit\n./sub/file\n",
    "find . -name 'F*' -o -iname 'FRU*'": "./fruit\n",
    "find . -maxdepth 1 -type d": ".\n./sub\n",
    "find . ! -type d -mtime +30": "./old\n",
    "find . \\( -name big -o -name old \\) -print | sort": "./big\n./old\n",
    "find . -path './sub/*'": "./sub/file\n",
    "find sub -type f -exec cat {} \\;": "inner\n",
    "find . -name '*e*' -type f -exec echo {} + | tr ' ' '\\n' | sort": "./numbers\n./sub/file\n./table\n",
    "find . -newer old -name t*": "./table\n",
    "find sub -delete; ls -d sub 2>/dev/null; echo $?": "1\n",
    "find . -name sub -prune -o -name f* -print": "./fruit\n",
    "find . -empty -type f": "./old\n",
    "cp fruit sub; cat sub/fruit | wc -l": "4\n",
    "cp -p old new; date -r new +%Y; cp old newer; date -r newer +%Y": "2020\n2023\n",
    "find . -user root -name fruit": "./fruit\n",
    "find . -size -3c -type f | sort": "./old\n",
    "find . -type f -a ! -name '*[!a-z]*' -print0 | tr '\\0' ' ' | wc -w": "6\n",
    "du -a sub | cut -f 2": "sub/file\nsub\n",
    "ls -lh big | tr -s ' ' | cut -d ' ' -f 5": "2.0K\n",
    "grep -A 1 -n fig fruit; grep -B 1 -A 1 -c fig fruit": "3:fig\n4-apple\n1\n",
    "chmod -R 700 sub; stat -c %a sub/file": "700\n",
    "rm -rf sub nothing; ls | wc -l": "5\n",
    # the system
    "uptime | cut -d ' ' -f 4-5": "1:00, \n",
    "service list | head -n 1": "Found 32 services:\n",
    "wm user-rotation": "lock 0\n",
    "ip addr | grep -o 'inet [0-9.]*'; ip -4 a show dev wlan0 | grep -c -e inet -e ether": "inet 10.0.2.16\n1\n",
    "ip route; ip r show dev wlan0": "10.0.2.0/24 dev wlan0 proto kernel scope link src 10.0.2.16 \n" * 2,
    "ip link show wlan0 | grep -c -e 'state UP' -e ether -e inet; ifconfig wlan0 | grep -o 'inet addr:[0-9.]*'":
        "2\ninet addr:10.0.2.16\n",
    "svc wifi disable; ip addr show wlan0 | grep -e inet -e DOWN; ip -4 addr; ip route; ifconfig":
        "2: wlan0: <BROADCAST,MULTICAST> mtu 1500 qdisc mq state DOWN group default qlen 1000\n",
    "svc wifi disable; ifconfig wlan0 | grep -c inet; ifconfig -a | grep -c -w -e UP -e RUNNING": "0\n0\n",
    "svc power stayon true; echo $?": "0\n",
    "ime enable com.android.adbkeyboard/.AdbIME >/dev/null; ime set com.android.adbkeyboard/.AdbIME >/dev/null;"
    "ime disable com.android.adbkeyboard/.AdbIME; settings get secure default_input_method | cut -d / -f 1":
        "Input method com.android.adbkeyboard/.AdbIME: now disabled for user #0\n"
        "com.google.android.inputmethod.latin\n",
    "am startservice com.android.adbkeyboard/.AdbIME >/dev/null; echo $?": "0\n",
    "whoami; id -u; id -un": "root\n0\nroot\n",
    "uname; uname -m": "Linux\nx86_64\n",
    "date -u +%s": "1697384040\n",
    "date -d @0 +%Y; date -d '2023-10-15 12:00' +%H:%M": "1970\n12:00\n",
    "setprop debug.x 5; getprop debug.x; getprop nothing other": "5\nother\n",
    "wm density; wm size": "Physical density: 120\nPhysical size: 270x600\n",
    "settings put system x 1; settings get system x; settings delete system x; settings get system x":
        "1\nDeleted 1 rows\nnull\n",
    "settings put global zen_duration 7; settings reset global zen_duration; settings get global zen_duration": "0\n",
    "service check activity; service check nonsense": "Service activity: found\nService nonsense: not found\n",
    "ime list -s; ime enable com.android.adbkeyboard/.AdbIME; ime set com.android.adbkeyboard/.AdbIME; ime reset;"
    "settings get secure default_input_method | cut -d / -f 1":
        "com.google.android.inputmethod.latin/com.android.inputmethod.latin.LatinIME\n"
        "Input method com.android.adbkeyboard/.AdbIME: now enabled for user #0\n"
        "Input method com.android.adbkeyboard/.AdbIME selected for user #0\n"
        "Reset current and enabled IMEs for user #0\n  Selected: com.google.android.inputmethod.latin/"
        "com.android.inputmethod.latin.LatinIME\ncom.google.android.inputmethod.latin\n",
    "cmd -l | grep -c -w package": "1\n",
    "cmd uimode night yes; cmd uimode night": "Night mode: yes\nNight mode: yes\n",
    "cmd wifi set-wifi-enabled disabled; dumpsys wifi | head -n 1": "Wi-Fi is disabled\n",
    "cmd wifi set-wifi-enabled disabled; cmd wifi status": "Wifi is disabled\n",
    "cmd connectivity airplane-mode enable; cmd connectivity airplane-mode; cmd wifi status":
        "enabled\nWifi is disabled\n",
    "cmd media_session volume --stream 3 --set 9 > /dev/null; settings get system volume_music": "9\n",
    "appops set com.android.settings CAMERA deny; appops get com.android.settings": "CAMERA: deny\n",
    "svc wifi enable; dumpsys wifi | head -n 1": "Wi-Fi is enabled\n",
    "am get-current-user": "0\n",
    "pm list features | head -n 1": "feature:android.hardware.camera\n",
    "pm list packages -i deskclock": "package:com.google.android.deskclock  installer=null\n",
    "pm list packages -3 -f markor": f"package:{place('net.gsantner.markor', False)}=net.gsantner.markor\n",
    "pm list packages | wc -l > all; pm list packages -a | wc -l | cmp - all; pm list packages -d": "",
    "pm list permissions | grep -c -e INTERNET -e CAMERA; pm list permissions -d | grep -e INTERNET -e CAMERA":
        "2\npermission:android.permission.CAMERA\n",
    "pm list permissions -g -d | grep -e Perm -e UNDEF -e READ_SMS -e group:":
        "Dangerous Permissions:\n" + "".join(f"group:{name}\n" for name in GROUPS)
        + "  permission:android.permission.READ_SMS\n",
    "pm list permission-groups | grep SMS": "permission group:android.permission-group.SMS\n",
}  # fmt: skip


@pytest.mark.parametrize(("script", "expected"), PRINTED.items())
def test_commands_print(files, script, expected):
    assert out(files, script) == expected


ERRORS = {
    "tar cx fruit": "tar: Needs -txc",
    "tar xf fruit": "tar: bad archive",
    "gunzip fruit": "gunzip: no .gz: fruit",
    "cp fruit bad.gz; gunzip bad.gz": "Not a gzipped file",
    "unzip fruit": "File is not a zip file",
    "expr 1 +": "expr: syntax error",
    "expr 1 / 0": "expr: division by zero",
    "expr a + 1": "expr: syntax error",
    "cmp": "cmp: Needs 1 argument",
    "cmp fruit": "cmp: EOF on - after byte 0, line 0",
    "cmp -ls fruit fruit": "cmp: No 's' with 'l'",
    "cmp fruit fruit x": "cmp: not integer: x",
    "xxd -c 257 fruit": "xxd: -c > 256",
    "sqlite3 -% :memory: 'SELECT 1'": "sqlite3: Error: unknown option: -%",
    "sqlite3 --json :memory: 'SELECT 1'": "sqlite3: Error: unknown option: --json",
    "sqlite3 -interactive :memory: 'SELECT 1'": "sqlite3: Error: unknown option: -interactive",
    "sqlite3 :memory: -separator": "sqlite3: Error: missing argument to -separator",
    "sqlite3 :memory: '.mode json'": "Error: mode should be one of: csv column line list tabs",
    "screenrecord -x /sdcard/a.mp4": "screenrecord: unknown option -- x",
    "screenrecord --nonsense /sdcard/a.mp4": "screenrecord: unknown option -- nonsense",
    "xxd -g -1 fruit": "xxd: -g < 0",
    "diff fruit nothing": "diff: nothing: No such file",
    "echo zz | xxd -r -p": "bad hexadecimal digits",
    "od -t q9 fruit": "od: bad -t q9",
    "mktemp x": "mktemp: need XX in template",
    "ln -s fruit x": "Operation not permitted",
    "mount -o remount,rw /": "mount: '/': Operation not permitted",
    "hostname x": "Operation not permitted",
    "stop": "Operation not permitted on the embedded phone",
    "find . -foo": "find: bad arg '-foo'",
    "cat nothing": "cat: nothing: No such file or directory",
    "cat sub": "cat: sub: Is a directory",
    "mkdir fruit": "File exists",
    "mkdir fruit/x": "Not a directory",
    "rmdir sub": "Directory not empty",
    "rm sub": "Is a directory",
    "cp nothing x": "No such file or directory",
    "cp sub x": "Skipped dir 'sub'",
    "cp -r sub fruit": "Not a directory",
    "mkdir -p fruit/x/y": "Not a directory",
    "rm": "Needs 1 argument",
    "chmod 600 nothing": "nothing: No such file or directory",
    "find . -maxdepth x": "not a number 'x'",
    "find . -name a \\)": "bad arg ')'",
    "dd if=fruit bs=x": "bad bs=x",
    "seq x": "bad number",
    "content call --uri content://sms": "Unsupported command: call",
    "svc power reboot": "not permitted",
    "cp fruit numbers table": "not directory",
    "mv fruit": "Needs 2 arguments",
    "chmod 9z fruit": "bad mode '9z'",
    "chown nobody_at_all fruit": "bad user 'nobody_at_all'",
    "touch -d nonsense fruit": "bad date 'nonsense'",
    "touch -r nothing fruit": "'nothing': No such file or directory",
    "head -n x fruit": "bad number",
    "grep '[' fruit": "bad regex",
    "grep -E '(a*)*b\\1' fruit": "loops in loops",
    "grep": "Needs 1 argument",
    "cut fruit": "no -fcb",
    "cut -f x fruit": "bad list 'x'",
    "tr": "Needs 1 argument",
    "seq 1 0 5": "bad step",
    "echo '!' | base64 -d": "bad input",
    "head -c 1x fruit": "bad number '1x'",
    "truncate -s 1x fruit": "bad size '1x'",
    "truncate -s %0 fruit": "bad size '%0'",
    "truncate -s 1 none/f": "No such file or directory",
    "sed s/x fruit": "s needs three separators",
    "sed y fruit": "y needs three separators",
    "sed y/ab/c/ fruit": "y needs as many letters on either side",
    "sed l fruit": "unknown command",
    "sed pq fruit": "unknown command",
    "sed 1,+2d fruit": "unknown command",
    "sed '/a/{p' fruit": "no }",
    "sed 'p}' fruit": "unexpected }",
    "sed bend fruit": "no label 'end'",
    "sed s//x/ fruit": "no previous pattern",
    "sed ':a;ba' fruit; echo never": "Killed",
    "sed ':a;s/p/pp/g;ta' fruit; echo never": "Killed",
    "find . -size x": "bad -size 'x'",
    "find . -mtime x": "bad time 'x'",
    "find . -nonsense x": "bad arg '-nonsense'",
    "find . -exec echo": "bad -exec",
    "find . \\( -name x": "need )",
    "find . -name": "missing argument",
    "find /nowhere": "No such file or directory",
    "sleep x": "Not a number 'x'",
    "date -r nothing": "nothing: No such file or directory",
    "kill nonsense": "nonsense: No such process",
    "ifconfig eth7": "No such device eth7",
    "ifconfig wlan0 down": "ifconfig: down: Operation not permitted",
    "ip addr show nope": 'Device "nope" does not exist.',
    "ip route show dev nope": 'Cannot find device "nope"',
    "ip route get 1.1.1.1": 'Command "get" is unknown',
    "ip addr add 10.0.0.1/8 dev wlan0": 'Command "add" is unknown',
    "ip neigh": 'Object "neigh" is unknown',
    "ip -6 addr": 'Option "-6" is unknown',
    "reboot": "not permitted",
    "setprop one": 'setprop: Need 2 arguments (see "setprop --help")',
    "setprop ro.serialno x": "Failed to set property 'ro.serialno' to 'x'",
    "setprop .a x": "Property names can't start or end with a '.'",
    "setprop a..b x": "'..' is not allowed in a property name",
    "setprop a=b x": "Invalid character '=' in property name",
    f"setprop a {'x' * 92}": "is too long, 92 bytes vs a max of 92",
    "getprop -q": "getprop: unknown option -- q",
    "getprop --nonsense": "getprop: unknown option -- nonsense",
    "getprop -T ro.serialno": "Unable to load property info file",
    "getprop -T -Z": "Only one of -T or -Z may be specified",
    "getprop a b c": "getprop: Max 2 arguments",
    "settings get nowhere x": "Invalid namespace 'nowhere'",
    "settings frobnicate system x": "Invalid command: frobnicate",
    "settings put system x": "Bad arguments",
    "ime set nothing/.X": "Unknown input method nothing/.X",
    "ime frobnicate x": "Unknown command: frobnicate",
    "wm size 100x100": "size is fixed",
    "svc nonsense": "Available commands",
    "cmd nonsense": "Can't find service: nonsense",
    "cmd statusbar nonsense": "Unknown command: nonsense",
    "cmd uimode nonsense": "Unknown command: nonsense",
    "cmd wifi nonsense": "Unknown command: nonsense",
    "cmd wifi start-scan enabled": "Unknown command: start-scan",
    "cmd media_session volume --stream 3 --set 16": "invalid arguments",
    "appops set com.android.settings CAMERA maybe": "Mode maybe is not valid",
    "am": "Activity manager (activity) commands",
    "am nonsense": "Unknown command: nonsense",
    "am start": "unable to resolve",
    "am start -n nocomponent": "Bad component name: nocomponent",
    "am start --nonsense": "Unknown option: --nonsense",
    "am start -a": 'Argument expected after "-a"',
    "am start --ei n x": 'NumberFormatException: For input string: "x"',
    "am start -n org.no.app/.Main": "Activity class {org.no.app/org.no.app.Main} does not exist",
    "am startservice org.no.app/.Service": "Not found; no service started",
    "am start-foreground-service com.google.android.deskclock/.X": "Error: Not found; no service started.",
    "am startservice com.google.android.deskclock": "Error: Not found; no service started.",
    "am startservice --user 10 com.android.adbkeyboard/.AdbIME": "Error: Not found; no service started.",
    "am startservice --user all com.android.adbkeyboard/.AdbIME": "Error: Can't start activity with user 'all'",
    "am stopservice com.android.adbkeyboard/.AdbIME": "Service not stopped: was not running.",
    "am stopservice --user all com.android.adbkeyboard/.AdbIME": "Error: Can't stop activity with user 'all'",
    "am instrument org.no.app/.Runner": "INSTRUMENTATION_FAILED: org.no.app/.Runner",
    "am stack frobnicate": "unknown command 'frobnicate'",
    "monkey -p org.no.app 1": "No activities found to run",
    "monkey -p com.google.android.deskclock": "Count not specified",
    "pm nonsense": "Unknown command: nonsense",
    "pm list nonsense": "unknown list type 'nonsense'",
    "pm list permissions -f": "-f is not on the embedded phone",
    "pm list permissions -x": "Unknown option: -x",
    "pm install /nowhere.apk": "failed to open file: /nowhere.apk",
    "pm install fruit": "INSTALL_PARSE_FAILED_NOT_APK",
    "echo x | pm install -S 100": "not all of the package arrived",
    "pm uninstall org.no.app": "not installed for 0",
    "pm uninstall com.google.android.deskclock": "DELETE_FAILED_INTERNAL_ERROR",
    "appops set org.no.app CAMERA allow": "No UID for org.no.app",
    "dumpsys nonsense": "Can't find service: nonsense",
    "screencap /nowhere/x.png": "Error opening file",
    "screenrecord": "Must specify output file",
    "screenrecord --time-limit 181 /sdcard/x.mp4": "outside acceptable range",
    "screenrecord --frobnicate /sdcard/x.mp4": "unknown option -- frobnicate",
    "screenrecord /nowhere/x.mp4": "Unable to open",
    "uiautomator nonsense": "Usage: uiautomator dump",
    "input tap 1": "Error",
    "input nonsense": "Error: Unknown command: nonsense",
    "content query": "Missing --uri",
    "content frobnicate --uri content://sms": "Unsupported operation: frobnicate",
    "content query --uri content://nowhere": "nowhere",
}  # fmt: skip


@pytest.mark.parametrize(("script", "words"), ERRORS.items())
def test_commands_complain(files, script, words, monkeypatch):
    monkeypatch.setattr(interpreter, "MOST_SECONDS", 2.0)  # what would not end needs no twenty
    output = run(files, f"cd /data/t; {script}")
    assert words in (output.stderr + output.stdout).decode()


# reports


def report(phone, name):
    return run(phone, f"dumpsys {name}").stdout.decode()


def test_reports_follow_the_screen(phone):
    run(phone, f"am start -n {CLOCK}/com.android.deskclock.DeskClock")
    assert CLOCK in report(phone, "window")
    assert "topResumedActivity=ActivityRecord{" in report(phone, "activity activities")
    assert CLOCK in report(phone, "activity top") and "Bad activity command" in report(phone, "activity nonsense")
    assert "mInputShown=false" in report(phone, "input_method")
    assert "Primary clip: null" in report(phone, "clipboard")
    phone.clipboard = "x"
    assert "text/plain" in report(phone, "clipboard")


def test_reports_list_notifications_and_services(phone):
    phone.post(Notification(CLOCK, "Alarm", "07:00", datetime(2023, 10, 15, 7)))
    text = report(phone, "notification")
    assert f"pkg={CLOCK}" in text and "android.title=String (Alarm)" in text and "android.text=String (07:00)" in text
    services = run(phone, "dumpsys -l").stdout.decode()
    assert "  window\n" in services and "Currently running services:" in services
    assert "displayName" in report(phone, "SurfaceFlinger")
    assert "Unable to find package: no" in report(phone, "package no")


# apps


def test_starting_an_app_says_how_it_was(phone):
    start = f"am start -W -n {CLOCK}/com.android.deskclock.DeskClock"
    states = [run(phone, script).stdout.decode() for script in (start, start, f"input keyevent 3; {start}")]
    assert [next(line for line in text.splitlines() if "LaunchState" in line) for text in states] == [
        "LaunchState: COLD", "LaunchState: HOT", "LaunchState: WARM",
    ]  # fmt: skip
    assert "its current task has been brought to the front" in states[1]
    assert "COLD" in run(phone, start.replace("-W", "-W -S")).stdout.decode()


CONTACTS = "com.google.android.contacts"
PEOPLE = f"{CONTACTS}/com.android.contacts.activities.PeopleActivity"
FORM = "am start -a android.intent.action.INSERT -t vnd.android.cursor.dir/contact"


@pytest.mark.parametrize(
    "option", ["--activity-clear-task", "--activity-clear-top", "-f 0x10008000", "-f 0x4000000", "-f 0400100000"]
)
def test_flags_close_the_screens_of_a_task(phone, option):
    run(phone, FORM)
    assert len(phone.stacks[CONTACTS]) == 2
    pid = phone.services.pids[CONTACTS]
    told = run(phone, f"am start -W {option} -n {PEOPLE}").stdout.decode()
    assert "flg=0x" in told and f"Activity: {PEOPLE}" in told.replace("/.", f"/{CONTACTS}.") and "Warning" not in told
    assert len(phone.stacks[CONTACTS]) == 1 and phone.services.pids[CONTACTS] == pid


def test_clear_top_keeps_the_screens_below(phone):
    run(phone, FORM)
    form = phone.top
    editor = "com.google.android.apps.contacts.editor.ContactEditorActivity"
    run(phone, f"{FORM} -n {CONTACTS}/{editor} --activity-clear-top")
    assert len(phone.stacks[CONTACTS]) == 2 and phone.top is not form


@pytest.mark.parametrize("option", ["-f 0x10000000", "-f 268435456", "--activity-single-top"])
def test_other_flags_bring_a_task_to_the_front_as_it_was(phone, option):
    run(phone, f"{FORM}; am start {option} -n {PEOPLE}")
    assert len(phone.stacks[CONTACTS]) == 2


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--activity-multiple-task", "Unknown option"), ("--activity-nonsense", "Unknown option"),
        ("-f 0x8000000", "Unsupported flags: 0x8000000"), ("-f red", 'For input string: "red"'),
    ],
)  # fmt: skip
def test_flags_without_support_are_refused(phone, option, message):
    answer = run(phone, f"am start {option} -n {PEOPLE}")
    assert answer.code == 255 and message in answer.stderr.decode() and CONTACTS not in phone.stacks


@pytest.mark.parametrize(
    ("command", "left"),
    [("am force-stop", 0), ("pm clear", 0), ("am kill", 1), ("am start -S -n {}/com.android.deskclock.DeskClock #", 0)],
)
def test_an_app_that_is_stopped_by_force_takes_its_notifications_along(phone, command, left):
    phone.post(Notification(CLOCK, "Alarm", "07:00", phone.now))
    phone.post(Notification("com.android.shell", "Other", "", phone.now))
    assert run(phone, f"{command.format(CLOCK)} {CLOCK}").code == 0
    assert sum(each.package == CLOCK for each in phone.notifications) == left
    assert phone.notifications[0].title == "Other"


def test_kill_and_kill_all_spare_the_app_in_front(phone):
    for package in ("com.google.android.contacts", CLOCK, "com.android.settings"):
        phone.launch(package)
    run(phone, "am kill com.android.settings com.google.android.contacts")
    assert set(phone.stacks) == {CLOCK, "com.android.settings", phone.launcher.package}
    run(phone, "am kill-all")
    assert set(phone.stacks) == {"com.android.settings", phone.launcher.package}
    run(phone, "am force-stop com.android.settings")
    assert phone.foreground == phone.launcher.package


def test_broadcasts_carry_typed_extras(phone):
    heard = []
    phone.receivers.append(heard.append)
    script = "am broadcast -a org.example.DO -d x:1 -c cat --es s text --ei i 7 --ez z true --ef f 1.5 org.example"
    assert "Broadcast completed: result=0" in run(phone, script).stdout.decode()
    phone.receivers.clear()
    (intent,) = heard
    assert intent == Intent(
        "org.example.DO", "x:1", package="org.example", categories=("cat",),
        extras={"s": "text", "i": 7, "z": True, "f": 1.5},
    )  # fmt: skip


def test_files_are_viewed_by_the_apps_that_can(phone):
    run(phone, "echo '<html></html>' > /sdcard/Download/a.html")
    output = run(phone, f"am start -a {VIEW} -d file:///sdcard/Download/a.html -t text/html").stdout.decode()
    assert output.startswith("Starting: Intent { act=android.intent.action.VIEW dat=file:///sdcard/Download/a.html")
    assert phone.foreground == "com.android.chrome"


def test_finding_the_activities_of_the_home_screen(phone):
    query = "pm query-activities --brief -a android.intent.action.MAIN -c android.intent.category.LAUNCHER"
    lines = run(phone, query).stdout.decode().splitlines()
    assert lines[0] == f"{len(phone.apps)} activities found:" and any(CLOCK in line for line in lines)
    assert run(phone, "pm query-activities --brief -a x").stdout == b"No activities found\n"


@pytest.mark.parametrize(("category", "found"), [
    ("HOME", "com.google.android.apps.nexuslauncher/.NexusLauncherActivity"),
    ("APP_BROWSER", "com.android.chrome/com.google.android.apps.chrome.Main"), ("APP_EMAIL", None),
])  # fmt: skip
def test_only_apps_of_a_category_are_found(phone, category, found):
    query = f"pm query-activities --brief -a android.intent.action.MAIN -c android.intent.category.{category}"
    lines = run(phone, query).stdout.decode().splitlines()
    assert lines[0] == ("1 activities found:" if found else "No activities found") and (not found or found in lines[-1])
    wrong = f"pm resolve-activity --brief -c android.intent.category.{category} {CLOCK}"
    assert run(phone, wrong).stdout == b"No activity found\n"


def test_clearing_the_cache_keeps_the_data(phone):
    folder = f"/data/data/{CLOCK}"
    run(phone, f"mkdir -p {folder}/cache/deep; touch {folder}/kept {folder}/cache/deep/gone")
    assert run(phone, f"pm clear --cache-only {CLOCK}; ls {folder}/kept {folder}/cache").stdout == (
        f"Success\n{folder}/kept\n\n{folder}/cache:\n".encode()
    )


def test_a_package_that_does_not_exist_is_not_enabled(phone):
    assert b"Unknown package: no.such" in run(phone, "pm enable no.such").stderr


def test_waiting_lets_the_clock_run(phone):
    before = phone.now
    run(phone, "sleep 1.5; sleep 2m")
    assert (phone.now - before).total_seconds() == 121.5


def test_setting_the_clock(phone):
    run(phone, "date 010203042024.05")
    assert phone.now == datetime(2024, 1, 2, 3, 4, 5)
    run(phone, "date @0")
    assert phone.now == datetime(1970, 1, 1)
    assert run(phone, "date nonsense").code == 1


TOYS = (
    "cat", "ls", "head", "tail", "wc", "grep", "sort", "uniq", "cut", "tr", "tee", "base64", "cp", "mv", "rm", "mkdir",
    "touch", "chmod", "stat", "du", "df", "sed", "ps", "pgrep", "md5sum", "tar", "gzip", "diff", "xxd", "seq", "nl",
    "dirname", "nproc", "uptime", "whoami", "xargs", "env", "printenv", "setsid", "timeout", "which", "tty", "hostname",
    "getenforce", "nohup",
)  # fmt: skip


@pytest.mark.parametrize("name", TOYS)
def test_no_option_is_ignored_in_silence(files, name):
    for option in ("-%", "--nonsense"):
        refused = run(files, f"cd /data/t; {name} {option} fruit")
        assert refused.code == (125 if name in ("env", "nohup", "timeout") else 1)
        assert refused.stderr.decode().startswith(f"{name}: Unknown option '{option.lstrip('-')}'")
    told = run(files, f"{name} --help")
    assert told.code == 0 and told.stdout.decode().startswith(f"usage: {name}")


def test_a_followed_file_gives_what_is_added_to_it(files):
    output = run(files, "tail -n 1 -f /data/t/fruit")
    assert output.stdout == b"apple\n" and output.endless and output.follow() == b""
    run(files, "echo kiwi >> /data/t/fruit")
    assert output.follow() == b"kiwi\n" and output.follow() == b""


def test_an_archive_of_a_stranger_stays_below_its_folder(files):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name in ("../../../sdcard/up", "/sdcard/absolute"):
            member = tarfile.TarInfo(name)
            member.size = 1
            archive.addfile(member, io.BytesIO(b"x"))
    files.storage.write("/data/t/evil.tar", packed.getvalue())
    before = files.storage.files_below("/storage")
    assert run(files, "cd /data/t; mkdir in; tar xf evil.tar -C in").code == 0
    assert files.storage.files_below("/storage") == before
    assert run(files, "cd /data/t/in; find . -type f").stdout.decode().split() == ["./sdcard/absolute", "./sdcard/up"]


@pytest.mark.parametrize(("command", "told"), [
    ("input swipe 1 2 3 4 nan", "Invalid arguments"), ("input swipe 1 2 3 4 inf", "Invalid arguments"),
    ("input swipe 1 2 3 4 99999999999", "Invalid arguments"), ("kill -BOGUS 1", "Unknown signal 'BOGUS'"),
    ("kill -s BOGUS 1", "Unknown signal 'BOGUS'"), ("logcat -d -b bogus", "Unknown buffer 'bogus' listed for -b."),
    ("logcat -d -t soon", "-t 'soon' not in time format."),
    ("cmd uimode night bogus", "mode must be 'yes', 'no', or 'auto'"),
    ("xxd -l all /system/build.prop", "Not a number 'all'"), ("grep -m few . /system/build.prop", "Not a number 'few'"),
    ("nl -v 1e9 /system/build.prop", "Not a number '1e9'"), ("base64 -w ٣ /system/build.prop", "Not a number"),
    ("cmp -n 99999999999999 /system/build.prop /system/build.prop", "Not a number '99999999999999'"),
])  # fmt: skip
def test_values_that_mean_nothing_are_refused(phone, command, told):
    output = run(phone, command)
    assert output.code and not output.stdout and told in output.stderr.decode()


def test_signals_have_numbers_and_names(phone):
    for signal in ("-0", "-9", "-KILL", "-SIGTERM", "-s INT", ""):
        assert run(phone, f"kill {signal} 1").code == 0
