/** A shop's system that accepts webhooks and does nothing with them; GET /count returns their number. */
import { createServer } from 'node:http'

let count = 0
createServer((request, response) => {
  request.resume()
  if (request.method === 'POST') {
    count++
    response.writeHead(204).end()
  } else response.end(String(count))
}).listen(Number(process.env.PORT), '127.0.0.1')
