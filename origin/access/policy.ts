/** The policy that the edge receives: who may join a sale, by its access, lines and rules and by the blocks of all sales. */
import { hash } from 'node:crypto'
import type { LineAccess, Policy } from '../../shared/api/access.ts'
import type { SaleRow } from '../sales/sale-row.ts'
import type { Block } from './access-queries.ts'

/** What a sale asks for that leaves the proof of work open. */
type DefaultProof = LineAccess['proof_of_work']

export function policyOf(
  { access, lines, rules }: Pick<SaleRow, 'access' | 'lines' | 'rules'>,
  blocks: readonly Block[],
  defaultProof: DefaultProof,
): Policy {
  const policy = {
    lines: lines.map(({ line, opens_early_seconds, access: own }) => {
      const asked = own ?? access
      return { line, opens_early_seconds, access: { ...asked, proof_of_work: asked.proof_of_work ?? defaultProof } }
    }),
    rules: rules.map(({ rule, when, action }) => ({ rule, when, action })),
    blocks: blocks.map(({ visitor, account, address }) => ({
      ...(visitor === null ? {} : { visitor }),
      ...(account === null ? {} : { account }),
      ...(address === null ? {} : { address }),
    })),
  }
  return { version: hash('sha256', JSON.stringify(policy), 'base64url').slice(0, 16), ...policy }
}
