import type { IncomingHttpHeaders } from 'node:http'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Refusal } from '../core/errors.ts'
import { NAME_PATTERN } from '../core/sandboxes/name.ts'
import { chooseForApi, chooseForControl, pathPrefixOf, redactName } from './selection.ts'

function signs(headers: IncomingHttpHeaders) {
  const given = headers['x-emulator-sandbox']
  return { headers, headersDistinct: given === undefined ? {} : { 'x-emulator-sandbox': [String(given)] } }
}

const name = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,62}$/)

test.for([
  ['/v1/pages', ''],
  ['/@w1/v1/pages', '/@w1'],
  ['/@w1', '/@w1'],
  ['/@w1?a=/b', '/@w1'],
  ['/@', '/@'],
  ['/@/v1', '/@'],
  ['/@a@b/v1', '/@a@b'],
  ['/v1/@w1', ''],
  ['//@w1/v1', ''],
  ['x@w1/v1', ''],
  ['', ''],
])('the path prefix of %s is "%s"', ([target = '', prefix]) => {
  expect(pathPrefixOf(target)).toBe(prefix)
})

test('the control interface takes no name of a sandbox from an API key', () => {
  const authorization = 'Bearer key@w1'
  const chosen = chooseForControl('/__emulator/clock', signs({ authorization }))
  expect(chosen).toMatchObject({ name: 'default', authorization })
})

test('every request chooses a well-formed sandbox name or is refused as a bad request', () => {
  const text = fc.option(fc.oneof(fc.string(), name), { nil: undefined })
  const suffixed = fc.tuple(fc.string(), fc.string()).map(([key, suffix]) => `Bearer ${key}@${suffix}`)
  const bearer = fc.option(suffixed, { nil: undefined })
  fc.assert(
    fc.property(fc.oneof(fc.string(), name), text, bearer, (path, header, authorization) => {
      const headers = {
        ...(header === undefined ? {} : { 'x-emulator-sandbox': header }),
        ...(authorization === undefined ? {} : { authorization }),
      }
      for (const target of [`/@${path}/v1/pages`, '/v1/pages']) {
        try {
          expect(chooseForApi(target, signs(headers)).name).toMatch(NAME_PATTERN)
        } catch (error) {
          expect(error).toBeInstanceOf(Refusal)
          expect(error).toMatchObject({ code: 'bad_request' })
        }
      }
    }),
    { seed: 7 },
  )
})

test('a log keeps the sandbox header only if its value is a valid name', () => {
  const good = { host: 'a', 'x-emulator-sandbox': 'w1' }
  expect(redactName(good)).toBe(good)
  expect(redactName({ host: 'a', 'x-emulator-sandbox': 'Live_Key' })).toEqual({ host: 'a' })
})
