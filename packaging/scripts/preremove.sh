#!/bin/sh
set -e
# dpkg says remove, rpm says 0; an upgrade goes on with what runs.
if [ "$1" = remove ] || [ "$1" = 0 ]; then
	if [ -d /run/systemd/system ]; then
		systemctl disable --now carteira.service || true
	fi
fi
