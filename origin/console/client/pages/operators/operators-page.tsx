/** The operators: who they are, and for owners a new one, a new key, and the end of a key. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ROLES, type Role } from '../../../../../shared/api/roles.ts'
import { api, get } from '../../api.ts'
import { Confirm, Failure, instant } from '../../parts.tsx'

interface OneOperator {
  readonly name: string
  readonly role: Role
  readonly created_at: string
  readonly revoked_at: string | null
}
interface Made {
  readonly name: string
  readonly role: Role
  readonly key: string
}

export function OperatorsPage() {
  const operators = useSignal<readonly OneOperator[] | null>(null)
  const error = useSignal<unknown>(null)
  const made = useSignal<Made | null>(null)
  const read = () =>
    get<{ operators: OneOperator[] }>('/admin/operators').then(
      (answer) => {
        operators.value = answer.operators
      },
      (failure) => {
        error.value = failure
      },
    )
  useEffect(() => {
    document.title = 'Operators · Console'
    void read()
  }, [])
  const give = async (name: string, role: string) => {
    made.value = await api<Made>('POST', '/admin/operators', { name, role })
    await read()
  }
  return (
    <>
      <div class="heading">
        <h1>Operators</h1>
        <Confirm
          action="Add an operator"
          effect="Makes a key, which is shown once. An operator who has this name already gets a new key, and the old one ends."
          onConfirm={(form) => give(String(form.get('name')), String(form.get('role')))}
        >
          <label>
            Name
            <input name="name" required maxLength={64} pattern="[A-Za-z0-9.@_\-]+" autocomplete="off" />
          </label>
          <RoleField selected="viewer" />
        </Confirm>
      </div>
      <Failure error={error.value} />
      {made.value && (
        <section class="card" role="status">
          <p>
            <b>{made.value.name}</b> is {made.value.role}. Their key, which is shown only now:
          </p>
          <p>
            <code>{made.value.key}</code>
          </p>
        </section>
      )}
      {operators.value === null && error.value === null && <p class="loading">Loading …</p>}
      {operators.value?.length === 0 && <p>There is no operator yet, only the admin token.</p>}
      <ul class="cards">
        {operators.value?.map(({ name, role, created_at, revoked_at }) => (
          <li key={name} class="card">
            <h2>{name}</h2>
            <p class="badges">
              <span class="phase">{revoked_at === null ? role : 'revoked'}</span>
              <span class="quiet">
                {revoked_at === null ? `made ${instant(created_at)}` : `revoked ${instant(revoked_at)}`}
              </span>
            </p>
            <p class="buttons start">
              <Confirm
                action="New key"
                effect={`${name} gets a new key, which is shown once. The old one and its sessions end.`}
                onConfirm={(form) => give(name, String(form.get('role')))}
              >
                <RoleField selected={role} />
              </Confirm>
              {revoked_at === null && (
                <Confirm
                  action="Revoke"
                  danger
                  effect={`The key and the sessions of ${name} open nothing after a second. Undo: a new key.`}
                  onConfirm={async () => {
                    await api('DELETE', `/admin/operators/${encodeURIComponent(name)}`)
                    await read()
                  }}
                />
              )}
            </p>
          </li>
        ))}
      </ul>
    </>
  )
}

function RoleField({ selected }: { selected: Role }) {
  return (
    <label>
      Role
      <select name="role">
        {ROLES.map((one) => (
          <option key={one} value={one} selected={one === selected}>
            {one}
          </option>
        ))}
      </select>
    </label>
  )
}
