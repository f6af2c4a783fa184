/**
 * A stream of server-sent events as a browser listens to it, on a connection of its own: until the listener stops it, or the
 * server ends it.
 */
import { get } from 'node:http'

interface Listener {
  /** The status of the response, 0 without one. */
  answered(status: number): void
  /** The data of an event. */
  received(data: string): void
  /** The server has ended it, or the connection is gone. */
  ended(): void
}

/** Listens, and returns a function that stops; after that nothing is called any more. */
export function listen(url: string, headers: Readonly<Record<string, string>>, listener: Listener): () => void {
  let [isOver, hasAnswered, text] = [false, false, '']
  const answered = (status: number) => {
    if (isOver || hasAnswered) return
    hasAnswered = true
    listener.answered(status)
  }
  const end = () => {
    answered(0)
    if (isOver) return
    isOver = true
    listener.ended()
  }
  const options = { agent: false, headers: { ...headers, accept: 'text/event-stream' } } as const
  const request = get(url, options, (response) => {
    answered(response.statusCode ?? 0)
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => {
      const events = `${text}${chunk}`.split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) {
        const data = /^data: ?(.*)$/m.exec(event)?.[1]
        if (data !== undefined && !isOver) listener.received(data)
      }
    })
    response.on('close', end)
  })
  request.on('error', end)
  return () => {
    isOver = true
    request.destroy()
  }
}
