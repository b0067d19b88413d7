import * as z from 'zod'
import { refuseInvalid } from '../../../kernel/errors.ts'
import { anyObject } from '../../../kernel/fields.ts'
import { isObject, type JsonObject } from '../../../kernel/json.ts'
import { mergeFixtures } from '../../../kernel/state/merge-fixtures.ts'
import { readFixtures } from '../../fixtures.ts'
import { refuseFixtures } from '../refuse-fixtures.ts'
import { route, WORLD_BODY } from '../route.ts'
import { foreignExtends, originOf, startingPoint } from '../starting-point.ts'
import { summaryOf } from '../world-summary.ts'

const start = () => z.strictObject(startingPoint()).prefault({})

/** The world as a whole. */
export const worldRoutes = [
  route({
    name: 'world.reset',
    method: 'POST',
    path: '/reset',
    summary: 'Start the world again: records, clock, settings and request log',
    answers: 'A summary of the new world.',
    bounds: WORLD_BODY,
    body: start,
    handle: async ({ host, sandbox, body }) => {
      refuseInvalid(foreignExtends(body.fixtures, '/fixtures'))
      await host.sandboxes
        .reset(sandbox, originOf(body))
        .catch((error) => refuseFixtures(error, isObject(body.fixtures) ? '/fixtures' : ''))
      return { body: summaryOf(sandbox) }
    },
  }),
  route({
    name: 'world.show',
    method: 'GET',
    path: '/state',
    summary: 'Show the whole state, secrets as digests but for those that sign webhooks',
    answers: 'The state document, as the JSON file holds it.',
    handle: ({ sandbox }) => ({ body: sandbox.document() }),
  }),
  route({
    name: 'world.load',
    method: 'PUT',
    path: '/state',
    summary: 'Replace the whole state by a document, or refuse it whole',
    answers: 'A summary of the new world.',
    bounds: WORLD_BODY,
    body: anyObject,
    handle: ({ sandbox, body }) => {
      sandbox.load(body)
      return { body: summaryOf(sandbox) }
    },
  }),
  route({
    name: 'world.merge',
    method: 'POST',
    path: '/fixtures',
    summary: 'Add the records of a fixtures document to the world; one with a known id replaces that record',
    answers: 'How many records were written, by collection.',
    bounds: WORLD_BODY,
    body: anyObject,
    handle: async ({ sandbox, body }) => {
      const document = body as JsonObject
      refuseInvalid(foreignExtends(document, ''))
      const fixtures = await readFixtures(document).catch((error) => refuseFixtures(error, ''))
      return { body: { written: await mergeFixtures(sandbox, fixtures) } }
    },
  }),
] as const
