import * as z from 'zod'
import { refuseInvalid } from '../../../kernel/errors.ts'
import { anyObject, timestamp } from '../../../kernel/fields.ts'
import { formatInstant } from '../../../kernel/instant.ts'
import { type Issue, isObject, type JsonObject } from '../../../kernel/json.ts'
import type { Sandbox } from '../../../kernel/sandbox.ts'
import { readFixtures, SHIPPED_WORLDS } from '../../fixtures.ts'
import { mergeFixtures } from '../merge-fixtures.ts'
import { refuseFixtures } from '../refuse-fixtures.ts'
import { type AnyRoute, route, WORLD_BODY } from '../route.ts'

const start = () =>
  z
    .strictObject({
      fixtures: z
        .union([z.enum(SHIPPED_WORLDS), anyObject()], {
          error: `must be one of ${SHIPPED_WORLDS.join(', ')}, or a fixtures document`,
        })
        .optional(),
      seed: z.int().optional(),
      clock: timestamp().optional(),
    })
    .prefault({})

/** The world as a whole. */
export const worldRoutes: readonly AnyRoute[] = [
  route({
    name: 'world.reset',
    method: 'POST',
    path: '/reset',
    summary: 'Start the world again: records, clock, settings and request log',
    answers: 'A summary of the new world.',
    bounds: WORLD_BODY,
    body: start,
    handle: async ({ host, sandbox, body: { fixtures, seed, clock } }) => {
      if (isObject(fixtures)) refuseInvalid(foreignExtends(fixtures, '/fixtures'))
      await host
        .reset({
          ...(fixtures === undefined ? {} : { fixtures: fixtures as string | JsonObject }),
          ...(seed === undefined ? {} : { seed }),
          ...(clock === undefined ? {} : { clock }),
        })
        .catch((error) => refuseFixtures(error, isObject(fixtures) ? '/fixtures' : ''))
      return { body: summaryOf(sandbox) }
    },
  }),
  route({
    name: 'world.show',
    method: 'GET',
    path: '/state',
    summary: 'Show the whole state, secrets as digests',
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
]

// A caller of this interface may name shipped worlds, never files: what a file holds could be read from the complaints.
function foreignExtends(document: JsonObject, at: string): Issue[] {
  const base = document.extends
  if (base === undefined || SHIPPED_WORLDS.some((name) => name === base)) return []
  return [{ pointer: `${at}/extends`, detail: `must be one of ${SHIPPED_WORLDS.join(', ')}` }]
}

function summaryOf(sandbox: Sandbox) {
  const counts = [...sandbox.service.collections.keys()].map(
    (name) => [name, sandbox.store.rows(name).size] as const,
  )
  return {
    sandbox: sandbox.name,
    revision: sandbox.store.revision,
    seed: sandbox.seed,
    now: formatInstant(sandbox.clock.now),
    records: Object.fromEntries(counts),
  }
}
