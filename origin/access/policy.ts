/** The policy that the edge receives: who may join a sale, by its access, lines and rules and by the blocks of all sales. */
import { hash } from 'node:crypto'
import type { LineAccess, Policy } from '../../shared/api/access.ts'
import type { SaleRow } from '../sales/sale-row.ts'
import type { Block } from './access-queries.ts'
import type { Blocks } from './blocks.ts'

/** The proof of work that a sale asks for where its own setting leaves it open. */
type DefaultProof = LineAccess['proof_of_work']

export class Policies {
  readonly #blocks: Pick<Blocks, 'all'>
  readonly #defaultProof: DefaultProof

  constructor(blocks: Pick<Blocks, 'all'>, defaultProof: DefaultProof) {
    this.#blocks = blocks
    this.#defaultProof = defaultProof
  }

  of(sale: Pick<SaleRow, 'access' | 'lines' | 'rules'>): Policy {
    return policyOf(sale, this.#blocks.all(), this.#defaultProof)
  }
}

function policyOf(
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
