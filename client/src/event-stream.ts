/** Reads server-sent events (WHATWG HTML, section 9.2) from a response, in any runtime that has web streams. */

interface ServerEvent {
  readonly event: string
  readonly data: string
}

export async function* eventsIn({ body }: Response): AsyncGenerator<ServerEvent, void> {
  if (!body) return
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  try {
    let text = ''
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      // A line ends with any of three line breaks; one that is cut between two parts is joined first.
      const blocks = (text + value).replaceAll('\r\n', '\n').split(/\n\n|\r\r/)
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const data = valuesOf(block, 'data').join('\n')
        if (data !== '') yield { event: valuesOf(block, 'event').at(-1) ?? 'message', data }
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

const valuesOf = (block: string, field: string): string[] =>
  block
    .split(/[\r\n]/)
    .filter((line) => line.startsWith(`${field}:`))
    .map((line) => line.slice(field.length + 1).replace(/^ /, ''))
