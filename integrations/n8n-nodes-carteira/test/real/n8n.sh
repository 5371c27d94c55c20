#!/bin/sh
# n8n.sh FOLDER VERSION: installs n8n from the npm registry into FOLDER, once, and prints the path of its program. It
# takes minutes and a gigabyte. Left out: the nodes for language models, which are most of it, and a library that n8n has
# from outside of the registry, in place of which it gets an older one from there.
set -e
folder=$1/n8n-$2
program=$folder/node_modules/n8n/bin/n8n
if [ ! -e "$folder/installed" ]; then
	mkdir -p "$folder/left-out"
	cat > "$folder/left-out/package.json" <<-END
		{ "name": "@n8n/n8n-nodes-langchain", "version": "0.0.0", "n8n": { "nodes": [], "credentials": [] } }
	END
	cat > "$folder/package.json" <<-END
		{
			"private": true,
			"dependencies": { "n8n": "$2" },
			"overrides": {
				"xlsx": "0.18.5",
				"@n8n/n8n-nodes-langchain": "file:./left-out",
				"@langchain/langgraph-checkpoint": "1.0.0"
			}
		}
	END
	cd "$folder"
	npm install --ignore-scripts --legacy-peer-deps --no-package-lock --no-audit --no-fund >&2
	npm rebuild sqlite3 >&2 # the one native module that it cannot do without
	touch installed
fi
echo "$program"
