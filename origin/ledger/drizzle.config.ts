import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: './origin/ledger/schema/*.ts',
  out: './origin/ledger/migrations',
})
