-- The company's CPF or CNPJ, for its receipts, and the first steps that its people do not want to see any more.
ALTER TABLE companies ADD COLUMN cpf_cnpj TEXT NOT NULL DEFAULT '';
ALTER TABLE companies ADD COLUMN hidden_steps TEXT NOT NULL DEFAULT '';
