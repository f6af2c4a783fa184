/** Pages whose script is loaded when they are first shown, so that no page waits for the scripts of the others. */
import type { ComponentChild } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Loading, Unread } from '../parts.tsx'

type Page<Props> = (props: Props) => ComponentChild

/** The script is missing after a newer console has been put out. Loading the page again brings that one. */
const MISSING = new Error('The script of this page does not load: a newer console may be out.')

export function lazily<Props extends object>(load: () => Promise<Page<Props>>): Page<Props> {
  let Loaded: Page<Props> | undefined
  return function Lazy(props) {
    const [isMissing, setMissing] = useState(false)
    const [, setLoaded] = useState(Loaded)
    useEffect(() => {
      load().then(
        (page) => {
          Loaded = page
          setLoaded(() => page)
        },
        () => setMissing(true),
      )
    }, [])
    if (Loaded) return <Loaded {...props} />
    return isMissing ? <Unread error={MISSING} onAgain={() => location.reload()} /> : <Loading />
  }
}
