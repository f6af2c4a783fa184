/** The buttons with which an operator announces something, and takes the announcement away. */
import type { AnnouncementRequest } from '../../../../../shared/api/operators/requests.ts'
import { admin } from '../../api.ts'
import { Confirm, textIn } from '../../parts.tsx'
import type { Done } from '../../toast.tsx'
import { AnnouncementFields, textsIn } from '../sale/controls.tsx'
import type { State } from '../sale/sale-actions.ts'

const call = admin.sales[':sale'].announcement

/** `before` is the announcement that visitors read until now. */
async function announce(
  state: State,
  announcement: AnnouncementRequest | null,
  before: AnnouncementRequest | null,
): Promise<Done> {
  const param = { sale: state.sale }
  if (announcement === null) await call.$delete({ param })
  else await call.$put({ param, json: { level: announcement.level, text: announcement.text } })
  const text = announcement === null ? 'Visitors no longer see the announcement.' : 'Visitors read the announcement.'
  return { text, undo: () => announce(state, before, announcement) }
}

export function AnnounceButtons({ state }: { state: State }) {
  const { announcement } = state
  return (
    <>
      <Confirm
        action="Announce"
        effect={
          'Everyone who waits reads it within three seconds. It takes the place of the one before. Undo: take ' +
          'it away.'
        }
        onConfirm={(form) =>
          announce(state, { level: textIn(form, 'level') as 'info' | 'warning', text: textsIn(form) }, announcement)
        }
      >
        <AnnouncementFields />
      </Confirm>
      {announcement && (
        <Confirm
          action="Take it away"
          effect="Visitors no longer see the announcement. It stays in the feed. Undo: announce it again."
          onConfirm={() => announce(state, null, announcement)}
        />
      )}
    </>
  )
}
