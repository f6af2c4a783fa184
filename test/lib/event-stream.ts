/** Reads a stream of server-sent events in tests. */

export interface StreamEvent<Data> {
  readonly id: string
  readonly data: Data
}

/** Opens a stream. `seen` fills until the server ends it, which `ended` awaits, or until the listener disconnects. */
export function listen<Data>(url: string, headers: Readonly<Record<string, string>> = {}) {
  const seen: StreamEvent<Data>[] = []
  const gone = new AbortController()
  const opened = fetch(url, { headers, signal: gone.signal })
  const read = async () => {
    let text = ''
    for await (const chunk of (await opened).body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const blocks = (text + chunk).split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1] ?? ''
        if (field('data')) seen.push({ id: field('id'), data: JSON.parse(field('data')) })
      }
    }
  }
  const ended = read().catch((error) => {
    if (!gone.signal.aborted) throw error
  })
  return { seen, opened, ended, leave: () => gone.abort() }
}
