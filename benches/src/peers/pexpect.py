"""Waits with pexpect for what a child writes, as told on standard input, and says how long after its write."""

import re
import sys
import time

import pexpect

rows, cols = int(sys.argv[1]), int(sys.argv[2])
child = pexpect.spawn(sys.argv[3], sys.argv[4:], dimensions=(rows, cols), timeout=60)
for line in sys.stdin:
    child.expect(re.compile(rb"n%06d:(\d+);" % int(line)))
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    print(now - int(child.match.group(1)), flush=True)
child.close(force=True)
