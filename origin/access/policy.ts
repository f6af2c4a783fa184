/**
 * The access policy that the edge receives: who may join a sale, by its access settings, lines and rules, and by the
 * blocks of all sales.
 */
import { hash } from 'node:crypto'
import type { LineAccess, Policy } from '../../shared/api/access.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { type Blocks, subjectOf } from './blocks.ts'

/** The proof of work of a sale whose own setting leaves it open. */
type DefaultProof = LineAccess['proof_of_work']

export class Policies {
  readonly #blocks: Pick<Blocks, 'all'>
  readonly #defaultProof: DefaultProof

  constructor(blocks: Pick<Blocks, 'all'>, defaultProof: DefaultProof) {
    this.#blocks = blocks
    this.#defaultProof = defaultProof
  }

  of({ access, lines, rules }: Pick<SaleRow, 'access' | 'lines' | 'rules'>): Policy {
    const policy = {
      lines: lines.map(({ line, name, opens_early_seconds, access: own }) => {
        const asked = own ?? access
        const proof_of_work = asked.proof_of_work ?? this.#defaultProof
        return { line, ...(name && { name }), opens_early_seconds, access: { ...asked, proof_of_work } }
      }),
      rules: rules.map(({ rule, when, action }) => ({ rule, when, action })),
      blocks: this.#blocks.all().map(subjectOf),
    }
    return { version: hash('sha256', JSON.stringify(policy), 'base64url').slice(0, 16), ...policy }
  }
}
