/** Lists the operators. Owners can add one, replace a key, and revoke a key. */
import { useMutation, useQuery } from '@tanstack/preact-query'
import { ROLES, type Role } from '../../../../../shared/api/operators/roles.ts'
import { admin, read } from '../../api.ts'
import { Confirm, Failure, instant, Loading, textIn, useTitle } from '../../parts.tsx'
import { may } from '../../session.ts'
import { Head } from '../../sheet/page.tsx'
import type { Done } from '../../toast.tsx'

export function OperatorsPage() {
  const { data, error } = useQuery({ queryKey: ['operators'], queryFn: () => read(admin.operators.$get()) })
  const { data: made, mutateAsync: give } = useMutation({
    mutationFn: (wanted: { name: string; role: Role }) => read(admin.operators.$post({ json: wanted })),
  })
  const giveKey = async (name: string, role: Role): Promise<Done> => {
    await give({ name, role })
    return { text: `${name} is ${role}, with a new key.` }
  }
  const revoke = async (name: string): Promise<Done> => {
    await admin.operators[':name'].$delete({ param: { name } })
    return { text: `The key of ${name} opens nothing any more.` }
  }
  const roleIn = (form: FormData) => textIn(form, 'role') as Role
  useTitle('Operators · Console')
  if (!may('owner')) return <p>Only owners see and name operators.</p>
  return (
    <>
      <Head title="Operators">
        <Confirm
          action="Add an operator"
          effect={
            'Makes a key, which is shown once. An operator who has this name already gets a new key, and the old ' +
            'one ends.'
          }
          onConfirm={(form) => giveKey(textIn(form, 'name'), roleIn(form))}
        >
          <label>
            Name
            <input name="name" required maxLength={64} pattern="[A-Za-z0-9.@_\-]+" autocomplete="off" />
          </label>
          <RoleField selected="viewer" />
        </Confirm>
      </Head>
      <Failure error={error} />
      {made && (
        <section class="sec" role="status">
          <p>
            <b>{made.name}</b> is {made.role}. Their key, which is shown only now:
          </p>
          <p>
            <code>{made.key}</code>
          </p>
        </section>
      )}
      {!data && !error && <Loading />}
      {data?.operators.length === 0 && <p>There is no operator yet, only the admin token.</p>}
      <ul class="cards">
        {data?.operators.map(({ name, role, created_at, revoked_at }) => (
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
                onConfirm={(form) => giveKey(name, roleIn(form))}
              >
                <RoleField selected={role} />
              </Confirm>
              {revoked_at === null && (
                <Confirm
                  action="Revoke"
                  danger
                  effect={`The key and the sessions of ${name} open nothing after a second. Undo: a new key.`}
                  onConfirm={() => revoke(name)}
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
