// There is no Go here. This file keeps ./... out of node_modules, where there is some.
module carteira/integrations

go 1.26.0
