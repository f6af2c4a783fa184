/** The page of `npm start` with the mails that buyers get. */
import { expect, onTestFinished, test } from 'vitest'
import { Smtp } from '../../origin/mail/channels/smtp.ts'
import { startMailCatcher } from './mail-catcher.ts'

test('shows each mail by its subject, as a page and as text', async () => {
  const catcher = await startMailCatcher()
  onTestFinished(catcher.stop)
  const smtp = new Smtp(catcher.smtpUrl, 'The shop <shop@example.com>')
  onTestFinished(() => smtp.close())
  const read = async (path: string) => (await fetch(catcher.url + path)).text()
  expect(await read('/')).toContain('No mail yet')
  const subject = `Bestätigt: ${'Größe 42, '.repeat(12)}für Ada`
  const written = { subject, text: 'Danke, €10', html: '<p>Danke, <b>€10</b></p>' }
  await smtp.send(written, 'ada@example.com', '1')
  const page = await read('/')
  expect(page).toContain(subject)
  expect(page).toContain('ada@example.com')
  expect(await read('/mails/0/text')).toBe(written.text)
  expect(await read('/mails/0/html')).toBe(written.html)
})
