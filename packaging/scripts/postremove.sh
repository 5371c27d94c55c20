#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
# The data stays, and with it its user: they are for a person to delete.
if [ "$1" = purge ] && [ -d /var/lib/carteira ]; then
	echo 'The data of Carteira is still in /var/lib/carteira, with its key and backups.'
fi
