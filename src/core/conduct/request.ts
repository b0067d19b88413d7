import { z } from 'zod'
import { didYouMean } from '../did-you-mean.ts'
import { isObject } from '../json.ts'
import { inputOf } from '../operation.ts'
import { unreadParameters } from '../request/unread-query.ts'
import { REDACTED } from '../secrets.ts'
import type { ObservedRequest } from './observed.ts'
import { family } from './verdict.ts'

/** The parameters and fields of a request that nothing reads, each with a sentence. */
function unreadIn({ outcome, operation, entry }: ObservedRequest) {
  const { settings, query, body } = entry
  if (outcome !== 'success' || operation === undefined || operation.stub !== undefined) return []
  const parameters = unreadParameters(operation, settings, query)
    .filter(({ name }) => query[name] !== REDACTED)
    .map(({ name, description }) => ({ field: `?${name}`, description }))
  const schema = inputOf(operation, settings).body
  const isClosed = schema instanceof z.ZodObject && schema.def.catchall === undefined
  if (!isClosed || body.kind !== 'json' || !isObject(body.value)) return parameters
  const known = Object.keys(schema.shape)
  const fields = Object.keys(body.value)
    .filter((name) => !known.includes(name))
    .map((name) => ({
      field: `/${name}`,
      description: `Nothing reads the field "${name}" of ${operation.name}.${didYouMean(name, known)}`,
    }))
  return [...parameters, ...fields]
}

/** List positions, which are not credentials. */
const POSITION = /page|cursor|next|continu|sync/i

/** The parameters of the URL that look like credentials, each with a sentence. */
function credentialsIn({ operation, entry: { query, path } }: ObservedRequest) {
  return Object.keys(query)
    .filter((name) => query[name] === REDACTED && !POSITION.test(name))
    .filter((name) => operation?.secrets?.includes(name) !== true)
    .map((name) => ({
      field: `?${name}`,
      description: `The URL of ${operation?.name ?? path} has the parameter "${name}", which looks like a credential: URLs are written to logs and histories.`,
    }))
}

/** Fields that nothing reads, and secrets in the URL. */
export const requestFamily = family({
  section: 'Endpoints',
  facts: ({ requests }) =>
    requests.flatMap((request) => [
      ...unreadIn(request).map((use) => ({ ...use, request, isCredential: false })),
      ...credentialsIn(request).map((use) => ({ ...use, request, isCredential: true })),
    ]),
  oneFor: ({ description }) => description,
  requests: ({ request }) => [request],
  evidence: ([{ field }, ...more]) => ({ field, requests: more.length + 1 }),
  verdicts: {
    'note request.unread-field': {
      description:
        'The client sends a field or a parameter that nothing reads; a warning if it is almost a known one.',
      fix: 'Correct the name, or leave the field out.',
      isBad: ({ isCredential }) => !isCredential,
      message: ([{ description }]) => description,
      weigh: ([{ description }]) => (description.includes('Did you mean') ? 'warning' : 'note'),
    },
    'warning request.credential-in-url': {
      description: 'The client sends a credential in the URL.',
      section: 'Authentication',
      fix: 'Send it in the header: Authorization: Bearer <key>.',
      isBad: ({ isCredential }) => isCredential,
      message: ([{ description }]) => description,
    },
  },
})
