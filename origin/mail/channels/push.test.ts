import { createECDH } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { Sender } from '../../webhooks/sender.ts'
import { faultIn, Push } from './push.ts'

/** A browser's subscription at a public address that is not looked up. */
const pair = createECDH('prime256v1')
const p256dh = pair.generateKeys('base64url')
const subscription = { endpoint: 'https://93.184.216.34/a', keys: { p256dh, auth: 'A'.repeat(22) } }
const sender = new Sender({ allowPrivate: false, allowHttp: false })

const offCurve = Buffer.concat([Buffer.of(4), Buffer.alloc(64, 1)]).toString('base64url')
test.each(['', 'A'.repeat(87), offCurve, p256dh.replace(/^./, 'C')])('nothing can be sent to the key %s', (wrong) => {
  expect(faultIn(subscription, ['*'], sender)).toBeNull()
  const fault = faultIn({ ...subscription, keys: { ...subscription.keys, p256dh: wrong } }, ['*'], sender)
  expect(fault?.field).toBe('push.keys.p256dh')
})

test.each<[string, boolean]>([
  ['fcm.googleapis.com', true],
  ['web.push.apple.com', true],
  ['wns2-am3p.notify.windows.com', true],
  ['fcm.googleapis.com.evil.example', false],
  ['evilpush.apple.com', false],
  ['a-name-that-nobody-has.example', false],
])('a subscription is at a service of the list: %s', (host, isTaken) => {
  const services = ['fcm.googleapis.com', '*.push.apple.com', '*.notify.windows.com']
  const fault = faultIn({ ...subscription, endpoint: `https://${host}/a` }, services, sender)
  expect(fault?.field).toBe(isTaken ? undefined : 'push.endpoint')
})

test.each(['localhost', '127.0.0.1', '[::ffff:10.0.0.1]', '169.254.169.254'])(
  'a private push service is refused, and not reached as a message is sent: %s',
  async (host) => {
    const to = { ...subscription, endpoint: `https://${host}/a` }
    expect(faultIn(to, ['fcm.googleapis.com'], sender)).toMatchObject({ field: 'push.endpoint' })
    const calls: (string | null)[] = []
    const strict = new Sender({ allowPrivate: false, allowHttp: false })
    onTestFinished(() => strict.close())
    const send: Sender['send'] = async (...call) => {
      const answer = await strict.send(...call)
      calls.push(answer.error)
      return answer
    }
    const vapid = createECDH('prime256v1')
    const keys = {
      VAPID_PUBLIC_KEY: vapid.generateKeys('base64url'),
      VAPID_PRIVATE_KEY: vapid.getPrivateKey('base64url'),
    }
    const push = new Push({ ...keys, VAPID_SUBJECT: 'mailto:shop@example.com', PUSH_SERVICES: ['*'] }, { send })
    const headline = {
      kind: 'turn',
      language: 'en',
      subject: 'Your turn',
      text: '',
      url: 'https://drop.example',
      show: '',
    } as const
    await expect(push.send(headline, to, 'id', 60_000)).rejects.toThrow('the push service was not reached')
    expect(calls).toEqual([expect.stringContaining('WEBHOOKS_ALLOW_PRIVATE')])
  },
)
