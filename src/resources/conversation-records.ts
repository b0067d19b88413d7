import * as z from 'zod'
import { nonEmptyText, timestamp } from '../kernel/fields.ts'
import type { Caller } from '../kernel/request/auth.ts'
import { collection } from '../kernel/state/collection.ts'
import { missing } from './missing.ts'
import { opaqueRecord } from './opaque.ts'
import { teamspaces } from './teamspaces/schema.ts'

const conversationFacts = () =>
  z.strictObject({
    teamspace_id: z.string(),
    /** The users who may see the conversation; null: the whole teamspace, service keys included. */
    user_ids: z.array(z.string()).nullable().default(null),
    /** The root conversation of a channel: a direct message, a standard channel or chats. */
    root: z.boolean().default(false),
    /** Whether feedback donates the trace of the message. */
    share_data_consent: z.boolean().default(false),
  })

type ConversationFacts = z.output<ReturnType<typeof conversationFacts>>

const conversationRecord = () => opaqueRecord<ConversationFacts>(conversationFacts())

export type Conversation = z.output<ReturnType<typeof conversationRecord>>

export const conversations = collection<Conversation>({
  name: 'conversations',
  label: 'conversation',
  schema: conversationRecord,
  check: ({ _emulator }, tx) => missing(tx, teamspaces, _emulator.teamspace_id, '_emulator', 'teamspace_id'),
  generate: ({ newId, any, n }) => ({
    id: newId(),
    _emulator: {
      teamspace_id: any(teamspaces).id,
      user_ids: null,
      root: n % 5 === 0,
      share_data_consent: n % 2 === 0,
    },
  }),
})

/** The pattern of a message id in lower case. */
export const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const STORED_ID = new RegExp(`^${UUID}$`)

const feedbackEntry = () =>
  z.strictObject({
    like: z.literal([1, -1]),
    feedback: z.string().nullable(),
    ui_surface: z.string().nullable(),
    at: timestamp(),
    user_id: z.string().nullable(),
    donated: z.boolean(),
  })

const messageFacts = () =>
  z.strictObject({
    conversation_id: z.string(),
    /** Feedback goes to `agent` and `voice` messages; `user` and any other word marks one that takes none. */
    kind: nonEmptyText(),
    /** What clients have said, oldest first. No answer shows it. */
    feedback: z.array(feedbackEntry()).default([]),
  })

type MessageFacts = z.output<ReturnType<typeof messageFacts>>

const messageRecord = () =>
  opaqueRecord<MessageFacts>(messageFacts()).refine(({ id }) => STORED_ID.test(id), {
    path: ['id'],
    error: 'must be a UUID in lower case, such as 3f2b8c1e-5d47-4a90-9b6f-0c1d2e3f4a5b',
  })

export type Message = z.output<ReturnType<typeof messageRecord>>

export const messages = collection<Message>({
  name: 'messages',
  label: 'message',
  schema: messageRecord,
  check: ({ _emulator }, tx) =>
    missing(tx, conversations, _emulator.conversation_id, '_emulator', 'conversation_id'),
  generate: ({ newUuid, any, chance }) => ({
    id: newUuid(),
    _emulator: {
      conversation_id: any(conversations).id,
      kind: chance.pick(['user', 'agent', 'voice']),
      feedback: [],
    },
  }),
})

/** Whether the caller has access to a conversation. Specification: Authentication. */
export function mayConverse(
  caller: Caller,
  { _emulator: { teamspace_id, user_ids } }: Conversation,
): boolean {
  if (teamspace_id !== caller.teamspace_id) return false
  return user_ids === null || (caller.user_id !== null && user_ids.includes(caller.user_id))
}
