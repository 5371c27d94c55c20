#!/bin/sh
set -e
if ! getent group carteira >/dev/null; then
	groupadd --system carteira
fi
if ! getent passwd carteira >/dev/null; then
	useradd --system --gid carteira --home-dir /var/lib/carteira --no-create-home --shell /usr/sbin/nologin carteira
fi
install -d -m 0700 -o carteira -g carteira /var/lib/carteira
# It may hold a key and the password of a database.
chown root:carteira /etc/carteira/carteira.env
chmod 0640 /etc/carteira/carteira.env
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart carteira.service # an upgrade; a new installation is started by you
fi
if [ "$1" = configure ] && [ -z "$2" ] || [ "$1" = 1 ]; then
	echo 'Carteira is installed. Look at /etc/carteira/carteira.env, then: systemctl enable --now carteira'
fi
