/** Asks before unsaved input is lost through a link, the Back button, or closing the page. */
import { useEffect } from 'preact/hooks'

const QUESTION = 'Leave without saving? What you have typed is lost.'

export function useUnsavedGuard(isUnsaved: () => boolean): void {
  useEffect(() => {
    const here = location.href
    const onUnload = (event: BeforeUnloadEvent) => {
      if (isUnsaved()) event.preventDefault()
    }
    const onClick = (event: MouseEvent) => {
      const link = (event.target as Element | null)?.closest?.('a[href]')
      const isElsewhere = link && !link.getAttribute('href')?.startsWith('#') && !link.hasAttribute('target')
      if (!isElsewhere || !isUnsaved() || confirm(QUESTION)) return
      event.preventDefault()
      event.stopImmediatePropagation()
    }
    const onBack = (event: PopStateEvent) => {
      if (!isUnsaved() || confirm(QUESTION)) return
      // The event is kept from the router, and the address is restored.
      event.stopImmediatePropagation()
      history.pushState(null, '', here)
    }
    addEventListener('beforeunload', onUnload)
    addEventListener('click', onClick, { capture: true })
    addEventListener('popstate', onBack, { capture: true })
    return () => {
      removeEventListener('beforeunload', onUnload)
      removeEventListener('click', onClick, { capture: true })
      removeEventListener('popstate', onBack, { capture: true })
    }
  }, [])
}
