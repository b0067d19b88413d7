import * as z from 'zod'
import { setting } from '../kernel/assumptions.ts'
import type { Caller } from '../kernel/auth.ts'
import { collection } from '../kernel/collection.ts'
import { refuse } from '../kernel/errors.ts'
import { nonEmptyText, timestamp } from '../kernel/fields.ts'
import { successDelete, successRead } from '../kernel/open-items.ts'
import { type Finder, operation, type Resource } from '../kernel/operation.ts'
import { oneOfNames } from './names.ts'
import { opaqueList, opaqueListAnswer, opaqueRecord, refuseStrict } from './opaque.ts'
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
  check: ({ _emulator }, tx) =>
    tx.in(teamspaces).get(_emulator.teamspace_id) === undefined
      ? [{ pointer: '/_emulator/teamspace_id', detail: 'names a teamspace that this world does not have' }]
      : [],
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

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
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
    tx.in(conversations).get(_emulator.conversation_id) === undefined
      ? [
          {
            pointer: '/_emulator/conversation_id',
            detail: 'names a conversation that this world does not have',
          },
        ]
      : [],
  generate: ({ newUuid, any, chance }) => ({
    id: newUuid(),
    _emulator: {
      conversation_id: any(conversations).id,
      kind: chance.pick(['user', 'agent', 'voice']),
      feedback: [],
    },
  }),
})

const uiSurfaces = setting<readonly string[]>({
  key: 'names.ui_surfaces',
  item: 'U009',
  says: 'The surfaces that feedback may name as ui_surface.',
  schema: () => z.array(nonEmptyText()).min(1),
  default: ['service_web', 'construction_platform_embed', 'field_app_mobile'],
})

const giveFeedback = operation({
  name: 'messages.feedback',
  method: 'POST',
  path: '/conversations/{conversation_id}/messages/{message_id}',
  summary: 'Like or dislike a message of an agent',
  section: 'Message feedback',
  dialect: 'standard',
  contract: true,
  success: 204,
  input: ({ object }, settings) => ({
    body: object({
      like: z.literal([1, -1], { error: 'must be 1 or -1' }),
      feedback: z.string().nullable().optional(),
      ui_surface: oneOfNames(settings.get(uiSurfaces), uiSurfaces).nullable().optional(),
    }),
  }),
  find: ratedMessage,
  handle: ({ tx, body, target, caller, at, note }) => {
    const { message, conversation } = target
    if (typeof body.ui_surface === 'string') note(uiSurfaces.item)
    const entry = {
      like: body.like,
      feedback: body.feedback ?? null,
      ui_surface: body.ui_surface ?? null,
      at,
      user_id: caller.user_id,
      donated: conversation._emulator.share_data_consent,
    }
    const { _emulator } = message
    tx.in(messages).put({ ...message, _emulator: { ..._emulator, feedback: [..._emulator.feedback, entry] } })
    return {}
  },
})

const MESSAGE_ID = new RegExp(`^(${UUID})(?:-(user|agent))?$`)

// The order tells nobody anything: first what is wrong with the id itself, then whether the caller sees the message,
// and only then what kind of message it is (T34).
function ratedMessage({ tx, caller, params }: Finder): { message: Message; conversation: Conversation } {
  const { conversation_id = '', message_id = '' } = params
  const [, uuid, suffix] = MESSAGE_ID.exec(lowerHex(message_id)) ?? []
  if (uuid === undefined) {
    refuse('malformed_message_id', {
      detail: `"${message_id}" is not a message id.`,
      mitigation: 'Give a UUID, alone or followed by -user or -agent.',
    })
  }
  const conversation = tx.in(conversations).get(conversation_id)
  const message = tx.in(messages).get(uuid)
  if (
    conversation === undefined ||
    !mayConverse(caller, conversation) ||
    message?._emulator.conversation_id !== conversation_id
  ) {
    return refuse('not_found', {
      detail: `There is no message "${message_id}" in a conversation "${conversation_id}".`,
      status: 404,
    })
  }
  if (suffix === 'user' || !['agent', 'voice'].includes(message._emulator.kind)) {
    refuse('not_an_agent_message', {
      detail: `The message "${message_id}" is neither of an agent nor of a voice call, so it takes no feedback.`,
    })
  }
  return { message, conversation }
}

// Hexadecimal digits are the same in either case, the suffix is not: only the first 36 characters are folded.
function lowerHex(id: string): string {
  return id.slice(0, 36).toLowerCase() + id.slice(36)
}

/** Whether the caller has access to a conversation. Specification: Authentication. */
function mayConverse(caller: Caller, { _emulator: { teamspace_id, user_ids } }: Conversation): boolean {
  if (teamspace_id !== caller.teamspace_id) return false
  return user_ids === null || (caller.user_id !== null && user_ids.includes(caller.user_id))
}

const listConversations = operation({
  name: 'conversations.list',
  method: 'GET',
  path: '/conversations',
  summary: 'List conversations',
  section: 'Endpoints named without a contract',
  dialect: 'standard',
  contract: false,
  success: successRead,
  answer: opaqueListAnswer,
  // What has_messages means is not shown: it is known, and left to stubs.
  input: () => ({ query: z.looseObject({ has_messages: z.unknown().optional() }) }),
  handle: (request) => {
    const { tx, caller, settings } = request
    refuseStrict(settings, 'conversations.list')
    const visible = tx.in(conversations).filter((each) => mayConverse(caller, each))
    return { body: { ...opaqueList(visible, request), has_more: false } }
  },
})

const deleteConversation = operation({
  name: 'conversations.delete',
  method: 'DELETE',
  path: '/conversations/{conversation_id}',
  summary: 'Delete a conversation that is not the root of a channel',
  section: 'Endpoints named without a contract',
  dialect: 'standard',
  contract: false,
  success: successDelete,
  find: ({ tx, caller, params }) => {
    const { conversation_id = '' } = params
    const conversation = tx.in(conversations).get(conversation_id)
    if (conversation !== undefined && mayConverse(caller, conversation)) return conversation
    const detail = `There is no conversation with the id "${conversation_id}".`
    return refuse('not_found', { detail, status: 404 })
  },
  handle: ({ tx, target, settings, note }) => {
    if (target._emulator.root) {
      refuse('root_conversation', {
        detail: `The conversation "${target.id}" is the root of a channel and cannot be deleted.`,
        mitigation: 'Delete conversations inside the channel instead.',
      })
    }
    refuseStrict(settings, 'conversations.delete')
    note('U044')
    for (const { id } of tx.in(messages).filter(({ _emulator }) => _emulator.conversation_id === target.id))
      tx.in(messages).delete(id)
    tx.in(conversations).delete(target.id)
    return { body: {} }
  },
})

export const conversationsRoom: Resource = {
  name: 'conversations',
  operations: [giveFeedback, listConversations, deleteConversation],
  collections: [conversations, messages],
  assumptions: {
    items: [
      {
        id: 'U034',
        open: 'How consent to data sharing is given, and what donating a trace looks like.',
        reading:
          'A fact of the conversation; the feedback kept with the message says whether it donated. Nothing leaves the machine, and no answer rests on it.',
        shows: 'nowhere',
      },
      {
        id: 'U044',
        open: 'What deleting a conversation that is not a root answers.',
        reading: 'The conversation and its messages go, with the status of deletions; under --strict a 501.',
        shows: 'answer',
      },
      {
        id: 'T33',
        open: 'What feedback on an id that ends in -user addresses.',
        reading:
          'The message of that UUID, which takes no feedback under that name: 400. Other forms address the stored message. The ids themselves leave no choice, so no answer is marked.',
        shows: 'nowhere',
      },
      {
        id: 'T34',
        open: 'Which fault of a feedback request is told first.',
        reading:
          'A malformed id, then a message that is missing or hidden, then its kind, then the body: so nobody learns the kind of a hidden message. Each answer is specified, only their order is not.',
        shows: 'nowhere',
      },
      {
        id: 'T40',
        open: 'What the root conversation of a channel is.',
        reading:
          'A fact that the fixtures give a conversation: channels are no resource of the specification, and the 400 itself is specified.',
        shows: 'nowhere',
      },
    ],
    settings: [uiSurfaces],
  },
}
