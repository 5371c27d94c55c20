package payment

// PayerBank is a bank that a request for an authorisation can go to.
type PayerBank struct{ ISPB, Name string }

// PayerBanks are the banks where most people have their accounts, by name; any
// other is named by its ISPB. They were held in November 2026 against the list of
// the Central Bank's participants in guibranco/BancosBrasileiros of August 2026.
var PayerBanks = []PayerBank{
	{"05463212", "Ailos"},
	{"19540550", "Asaas"},
	{"04902979", "Banco da Amazônia"},
	{"00000000", "Banco do Brasil"},
	{"07237373", "Banco do Nordeste"},
	{"59285411", "Banco Pan"},
	{"28127603", "Banestes"},
	{"92702067", "Banrisul"},
	{"61186680", "BMG"},
	{"60746948", "Bradesco"},
	{"00000208", "BRB"},
	{"30306294", "BTG Pactual"},
	{"31872495", "C6 Bank"},
	{"00360305", "Caixa Econômica Federal"},
	{"37880206", "Cora"},
	{"09089356", "Efí"},
	{"00416968", "Inter"},
	{"60701190", "Itaú"},
	{"10573521", "Mercado Pago"},
	{"17184037", "Mercantil"},
	{"20855875", "Neon"},
	{"18236120", "Nubank"},
	{"08561701", "PagBank"},
	{"22896431", "PicPay"},
	{"58160789", "Safra"},
	{"90400888", "Santander"},
	{"02038232", "Sicoob"},
	{"01181521", "Sicredi"},
	{"16501555", "Stone"},
	{"33264668", "XP"},
}
