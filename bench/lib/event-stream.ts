/**
 * Reads a stream of server-sent events as a browser does, on its own connection, until the listener stops it or the
 * server ends it.
 */
import { get } from 'node:http'

interface Listener {
  /** The status of the response, 0 without one. */
  answered(status: number): void
  /** The data of an event. */
  received(data: string): void
  /** Called when the server has ended the stream, or the connection is lost. */
  ended(): void
}

/** Listens to a stream. Returns a function that stops it; after that no callback is called. */
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
