"""Programs, devices and the kernel's files: where commands say that they are, there they are."""

import pytest

from coach_gym.envs.phone.shell import COMMANDS, run
from coach_gym.envs.phone.shell.language.builtins import BUILTINS


def out(phone, command):
    return run(phone, command).stdout.decode()


@pytest.mark.parametrize(("script", "expected"), {
    "which sqlite3 cd sh nope /bin/ls /nope/ls": "/system/bin/sqlite3\n/system/bin/sh\n/bin/ls\n",
    "[ -x /system/bin/sqlite3 ] && [ -f /bin/sh ] && [ -d /system/bin ] && ! [ -e /system/bin/no ] && echo y": "y\n",
    "ls /system/bin | grep -x -e sqlite3 -e cd -e ls -e '\\['": "[\nls\nsqlite3\n",
    "ls /system/bin/sqlite3; /system/bin/sh -c 'echo $0'; ls -l /bin/ls":
        "/system/bin/sqlite3\n/system/bin/sh\n-rwxr-xr-x 1 root shell 4 2009-01-01 00:00 /bin/ls\n",
    "stat -c '%a %F' /system/bin/ls /dev/null; file -b /system/bin/ls":
        "755 regular file\n666 character device\nELF executable\n",
    "ls /dev; ls / | grep -e dev -e proc": "null\nrandom\ntty\nurandom\nzero\ndev\nproc\n",
    "for f in /dev/null /dev/tty /proc; do [ -c $f ] && [ -e $f ] && [ ! -f $f ] && [ -w $f ] && echo $f; done":
        "/dev/null\n/dev/tty\n",
    "cp /dev/null /sdcard/e; wc -c < /sdcard/e; cp /proc/version /sdcard/v; cmp /proc/version /sdcard/v && echo same":
        "0\nsame\n",
    "echo a > /sdcard/a; cp /sdcard/a /dev/null && touch /dev/null && echo b | tee /dev/null; cat /dev/null": "b\n",
    "[ -d /proc/1 ] && [ ! -d /proc/77777 ] && [ -f /proc/meminfo ] && cd /proc && pwd": "/proc\n",
    "touch /sdcard/a; [ -x /sdcard/a ] || echo no; chmod +x /data/local/tmp; [ -x /data/local/tmp ] && echo yes":
        "no\nyes\n",
    "f() { :; }; command -v f cd ls": "f\ncd\n/system/bin/ls\n",
    "find / -name toybox; find /bin/ -name 'sh*'; find /proc/self -name comm":
        "/system/bin/toybox\n/bin/sh\n/bin/sha1sum\n/bin/sha256sum\n/bin/sha512sum\n/proc/self/comm\n",
    "echo /system/bin/sh* /bin/toyb?x /proc/v* /sdc* /dev/[z]ero":
        "/system/bin/sh /system/bin/sha1sum /system/bin/sha256sum /system/bin/sha512sum /bin/toybox /proc/version "
        "/sdcard /dev/zero\n",
    "find / -maxdepth 1 -type l; find /dev -type c -name 'n*'; find /system/bin -name sh -size -1k -type f":
        "/bin\n/etc\n/sdcard\n/dev/null\n",
    "find /system/bin -name sh -delete || ls /bin/sh; find / -maxdepth 1 -name sdcard -delete || ls -d /sdcard":
        "/bin/sh\n/sdcard\n",
    "cd /proc/1 && ls && cat comm; ls -d /sys/devices/system/cpu/*":
        "cmdline\ncomm\noom_score_adj\nstat\nstatus\ninit\n"
        + "".join(f"/sys/devices/system/cpu/{name}\n" for name in ("cpu0", "cpu1", "online", "possible", "present")),
    "cp -r /bin /sdcard/b; diff -rq /system/bin /sdcard/b && ls /sdcard/b/sh; grep -rl ELF /system/bin | grep sh$":
        "/sdcard/b/sh\n/system/bin/sh\n",
    "tar cf /sdcard/t /bin/sh; tar tf /sdcard/t; cat < /system/bin/sh | xxd -p; date -r /system/bin/sh +%Y":
        "bin/sh\n7f454c46\n2009\n",
    "touch /sdcard/n; [ /sdcard/n -nt /bin/sh ] && find /sdcard -newer /bin/sh -name n; mkdir /bin/ls || du /bin/ls":
        "/sdcard/n\n4\t/bin/ls\n",
}.items())  # fmt: skip
def test_files_that_are_made_when_asked_for(phone, script, expected):
    assert out(phone, script) == expected


def test_every_command_but_those_of_the_shell_alone_is_a_program(phone):
    programs = set(out(phone, "ls /system/bin").split())
    assert programs - BUILTINS == COMMANDS.keys() - BUILTINS
    assert programs & BUILTINS == {"[", "echo", "false", "printf", "pwd", "test", "time", "true"}
    assert run(phone, "/system/bin/cd /").code == run(phone, "/nope/ls").code == 127
