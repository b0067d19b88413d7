import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { put, texts } from '../../../test/support/disk-world.ts'
import { note, opened } from '../../../test/support/edited-file.ts'
import { said } from '../../../test/support/state-files.ts'

test.each<[string, (text: string) => string, RegExp]>([
  ['no JSON', (text) => text.replace('"one"', 'one'), /world\.json:(\d+):\d+: expected a value, found "o"/],
  [
    'no state',
    (text) => text.replace('"text": "one"', '"text": 7'),
    /world\.json:(\d+): \/collections\/notes\/0\/text: /,
  ],
  [
    'at odds with itself',
    (text) => text.replace('"text": "one"', '"text": "one", "parent_id": "nobody"'),
    /world\.json:(\d+): \/collections\/notes\/0\/parent_id: There is no note "nobody"/,
  ],
])('an edit that is %s is refused with its line, and kept; the world goes on', async (_, change, message) => {
  const world = await opened()
  const right = readFileSync(world.file, 'utf8')
  const wrong = change(right)
  const line = right.split('\n').findIndex((each) => each.includes('"one"')) + 1
  world.save(wrong)
  put(world.sandbox, 'b', 'by the API')
  await world.persistence.close()
  expect(texts(world.sandbox)).toEqual({ a: 'one', b: 'by the API', c: 'three' })
  expect(world.notices).toMatchObject([
    { event: 'edit_refused', level: 'error', line, kept: `${world.file}.rejected-1` },
  ])
  expect(message.exec(world.notices[0]?.message ?? '')?.[1]).toBe(String(line))
  expect(readFileSync(`${world.file}.rejected-1`, 'utf8')).toBe(wrong)
  expect(note(world.read(), 'b').text).toBe('by the API')
})

test('half-saved JSON is given time', async () => {
  const world = await opened()
  const whole = readFileSync(world.file, 'utf8').replace('"one"', '"edited"')
  world.save(whole.slice(0, 50))
  const checkpoint = world.persistence.checkpointNow()
  await expect.poll(() => world.timers.waiting.map(({ ms }) => ms)).toEqual([200])
  world.timers.fire()
  await expect.poll(() => world.timers.waiting.length).toBe(1)
  world.save(whole)
  world.timers.fire()
  await checkpoint
  expect([texts(world.sandbox).a, said(world)]).toEqual(['edited', ['edit_taken']])
})

test('JSON that stays half is refused after three more looks, and the file is made whole again', async () => {
  const world = await opened()
  world.save('{"format": 1,')
  const checkpoint = world.persistence.checkpointNow()
  for (let looks = 0; looks < 3; looks++) {
    await expect.poll(() => world.timers.waiting.length).toBe(1)
    world.timers.fire()
  }
  await checkpoint
  expect(said(world)).toEqual(['edit_refused'])
  expect(readFileSync(`${world.file}.rejected-1`, 'utf8')).toBe('{"format": 1,')
  expect(texts(world.sandbox)).toEqual({ a: 'one', b: 'two', c: 'three' })
  expect(note(world.read(), 'a').text).toBe('one')
})

test('an edit that contradicts what has happened meanwhile is refused whole', async () => {
  const world = await opened()
  put(world.sandbox, 'd', 'child', { parent_id: 'c' })
  world.edit((document) => {
    note(document, 'a').text = 'edited'
    document.collections.notes.splice(2, 1)
  })
  await world.persistence.checkpointNow()
  expect(texts(world.sandbox)).toEqual({ a: 'one', b: 'two', c: 'three', d: 'child' })
  expect(world.notices[0]?.message).toContain('/collections/notes/d/parent_id: There is no note "c"')
  expect(said(world)).toEqual(['edit_refused'])
})
