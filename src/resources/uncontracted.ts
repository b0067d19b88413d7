import * as z from 'zod'
import { successCreate, successRead } from '../kernel/open-items.ts'
import { operation, type Resource } from '../kernel/operation.ts'
import { refuseUncontracted, uncontracted } from './opaque.ts'

// Neither has an input: no parameter is known, so none is read, none is refused and none has a default.

const converse = operation({
  ...uncontracted,
  name: 'converse.create',
  method: 'POST',
  path: '/converse',
  summary: 'Converse with an agent',
  success: successCreate,
  answer: () => z.unknown(),
  handle: () => refuseUncontracted('converse.create'),
})

const search = operation({
  ...uncontracted,
  name: 'search.query',
  method: 'GET',
  path: '/search',
  summary: 'Search',
  success: successRead,
  answer: () => z.unknown(),
  handle: () => refuseUncontracted('search.query'),
})

/** The endpoints of which nothing but the path is known, and what holds for all without a contract. */
export const uncontractedRoom: Resource = {
  name: 'uncontracted',
  operations: [converse, search],
  collections: [],
  assumptions: {
    items: [
      {
        id: 'U011',
        open: 'Fields of agents, automations, conversations, messages, files, knowledge, tables, voice and webhooks.',
        reading:
          'Whatever a fixture or a client gives, unchanged, beside an id. Answers that carry such a record are marked with U043.',
        shows: 'nowhere',
      },
      {
        id: 'U043',
        open: 'Contracts of the endpoints that the specification only names.',
        reading:
          'A stub of the fixtures, of a scenario or of the control interface answers first. Else records that the world holds are passed through, a generated template is told by its claim token alone, and the rest is a 501. Under --strict everything is.',
        shows: 'answer',
      },
      {
        id: 'U045',
        open: 'Paths of the endpoints that read messages.',
        reading: 'None is made up: whatever a client tries is a 404 until a stub of that path answers it.',
        shows: 'nowhere',
      },
    ],
    settings: [],
  },
}
