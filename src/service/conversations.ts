import { z } from 'zod'
import { choice, inResponse, setting, unnamedItem } from '../core/assumptions.ts'
import { declareError } from '../core/error-kinds.ts'
import { Refusal, refuse } from '../core/errors.ts'
import { nonEmptyText, timestamp } from '../core/fields.ts'
import { type Finder, operation } from '../core/operation.ts'
import type { Caller } from '../core/request/auth.ts'
import type { Resource } from '../core/service.ts'
import { collection } from '../core/state/collection.ts'
import { oneOfNames, refersTo } from './records.ts'
import { teamspaces } from './teamspaces/schema.ts'
import {
  type OpaqueRecord,
  opaqueList,
  opaqueListResponse,
  opaqueRecord,
  refuseStrict,
  refuseUncontracted,
  uncontracted,
  unspecified,
} from './uncontracted.ts'

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

export type Conversation = OpaqueRecord<z.output<ReturnType<typeof conversationFacts>>>

export const conversations = collection<Conversation>({
  name: 'conversations',
  label: 'conversation',
  schema: () => opaqueRecord(conversationFacts()),
  check: refersTo(teamspaces, '_emulator', 'teamspace_id'),
  generate: ({ newId, any, n }) => ({
    id: newId(),
    _emulator: {
      teamspace_id: any(teamspaces).id,
      root: n % 5 === 0,
      share_data_consent: n % 2 === 0,
    },
  }),
})

/** The pattern of a message id in lower case. */
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const STORED_ID = new RegExp(`^${UUID}$`)

// Hexadecimal digits are equal in either case, but the suffix is not.
const MESSAGE_ID = new RegExp(`^(${UUID.replaceAll('a-f', 'a-fA-F')})(?:-(user|agent))?$`)

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
    /** `agent` and `voice` messages accept feedback; `user` and any other word marks one that does not. */
    kind: nonEmptyText(),
    /** The feedback of clients, oldest first. No response shows it. */
    feedback: z.array(feedbackEntry()).default([]),
  })

export type Message = OpaqueRecord<z.output<ReturnType<typeof messageFacts>>>

export const messages = collection<Message>({
  name: 'messages',
  label: 'message',
  schema: () =>
    opaqueRecord(messageFacts()).refine(({ id }) => STORED_ID.test(id), {
      path: ['id'],
      error: 'must be a UUID in lower case, such as 3f2b8c1e-5d47-4a90-9b6f-0c1d2e3f4a5b',
    }),
  check: refersTo(conversations, '_emulator', 'conversation_id'),
  generate: ({ newUuid, any, chance }) => ({
    id: newUuid(),
    _emulator: {
      conversation_id: any(conversations).id,
      kind: chance.pick(['user', 'agent', 'voice']),
    },
  }),
})

/** Whether the caller has access to a conversation. Specification: Authentication. */
function mayConverse(caller: Caller, { _emulator: { teamspace_id, user_ids } }: Conversation): boolean {
  if (teamspace_id !== caller.teamspace_id) return false
  return user_ids === null || (caller.user_id !== null && user_ids.includes(caller.user_id))
}

const uiSurfaces = setting({
  key: 'names.ui_surfaces',
  item: 'U009',
  description: 'Sets the surfaces that feedback may name as ui_surface.',
  schema: () => z.array(nonEmptyText()).min(1),
  default: ['service_web', 'construction_platform_embed', 'field_app_mobile'],
})

const malformedId = declareError('malformed_message_id', {
  status: 400,
  title: 'Malformed Message Id',
  retryable: false,
  meaning: 'The message id is neither a UUID nor a UUID with the suffix -user or -agent.',
})

const notAnAgentMessage = declareError('not_an_agent_message', {
  status: 400,
  title: 'Not An Agent Message',
  retryable: false,
  meaning: 'Feedback is only accepted for messages of an agent or a voice call.',
})

export const giveFeedback = operation({
  name: 'messages.feedback',
  method: 'POST',
  path: '/conversations/{conversation_id}/messages/{message_id}',
  summary: 'Like or dislike a message of an agent',
  section: 'Message feedback',
  permissionShown: true,
  refusals: [malformedId, notAnAgentMessage],
  success: 204,
  input: ({ object }, settings) => ({
    body: object({
      like: z.literal([1, -1], { error: 'must be 1 or -1' }).meta({ type: 'integer' }),
      feedback: z.string().nullable().optional(),
      ui_surface: oneOfNames(settings.get(uiSurfaces), uiSurfaces).nullable().optional(),
    }),
  }),
  pathPatterns: { message_id: MESSAGE_ID },
  // The order of the checks reveals no message that the caller may not see: first the form of the id, then the access of the
  // caller, and only then the kind of the message (T34).
  checkPathIds: ({ message_id = '' }) => {
    if (MESSAGE_ID.test(message_id)) return
    refuse(malformedId, {
      detail: `"${message_id}" is not a message id.`,
      mitigation: 'Give a UUID, alone or followed by -user or -agent.',
    })
  },
  missingOrForbidden: noSuchMessage,
  find: ratedMessage,
  handle: ({ tx, body, target, caller, at, assume, note }) => {
    const { message, conversation } = target
    // The permission on a conversation is that of a user: which service keys have it is not shown.
    if (caller.kind === 'service') note('U071')
    if (typeof body.ui_surface === 'string') assume(uiSurfaces)
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

function noSuchMessage({ conversation_id = '', message_id = '' }: Finder['params']): Refusal {
  const detail = `There is no message "${message_id}" in a conversation "${conversation_id}".`
  return new Refusal('not_found', { detail, status: 404 })
}

function ratedMessage({ tx, caller, params }: Finder): { message: Message; conversation: Conversation } {
  const { conversation_id = '', message_id = '' } = params
  const [, uuid = '', suffix] = MESSAGE_ID.exec(message_id) ?? []
  const conversation = tx.in(conversations).get(conversation_id)
  const message = tx.in(messages).get(uuid.toLowerCase())
  if (
    conversation === undefined ||
    !mayConverse(caller, conversation) ||
    message?._emulator.conversation_id !== conversation_id
  ) {
    throw noSuchMessage(params)
  }
  const takesFeedback = ['agent', 'voice'].includes(message._emulator.kind)
  if (suffix === 'user' || !takesFeedback) {
    // The suffix names another role than that of the message with this UUID.
    const isOtherRole = suffix !== undefined && (suffix === 'agent') !== takesFeedback
    refuse(notAnAgentMessage, {
      detail: `The message "${message_id}" is not from an agent or a voice call, so it does not accept feedback.`,
      ...(isOtherRole && { assumed: [['T33']] }),
    })
  }
  return { message, conversation }
}

const HAS_MESSAGES: ReadonlyMap<unknown, boolean> = new Map([
  ['true', true],
  ['false', false],
])

const listConversations = uncontracted({
  name: 'conversations.list',
  method: 'GET',
  path: '/conversations',
  summary: 'List conversations',
  output: opaqueListResponse,
  // The specification shows no values of has_messages: true and false filter, and other values have no effect.
  input: () => ({ query: z.looseObject({ has_messages: z.unknown().optional() }) }),
  handle: (request) => {
    const { tx, caller, query } = request
    const wanted = HAS_MESSAGES.get(query.has_messages)
    const spoken = new Set([...tx.in(messages)].map(({ _emulator }) => _emulator.conversation_id))
    const visible = tx.in(conversations).filter((each) => {
      return mayConverse(caller, each) && (wanted === undefined || spoken.has(each.id) === wanted)
    })
    return { body: opaqueList(visible, request) }
  },
})

const rootConversation = declareError('root_conversation', {
  status: 400,
  title: 'Root Conversation',
  retryable: false,
  meaning: 'The root conversation of a channel cannot be deleted, only the conversations inside it.',
})

const deletion = choice({
  key: 'conversations.delete',
  item: 'U044',
  description:
    'Decides what the deletion of a conversation that is not a root does: it is deleted, or refused with 501, because its response is not specified.',
  values: ['delete', 'not_specified'],
})

const deleteConversation = operation({
  name: 'conversations.delete',
  method: 'DELETE',
  path: '/conversations/{conversation_id}',
  summary: 'Delete a conversation that is not the root of a channel',
  ...unspecified,
  refusals: [rootConversation],
  missingOrForbidden: noSuchConversation,
  find: ({ tx, caller, params }) => {
    const { conversation_id = '' } = params
    const conversation = tx.in(conversations).get(conversation_id)
    if (conversation !== undefined && mayConverse(caller, conversation)) return conversation
    throw noSuchConversation(params)
  },
  handle: ({ tx, target, settings, assume }) => {
    if (target._emulator.root) {
      refuse(rootConversation, {
        detail: `The conversation "${target.id}" is the root of a channel and cannot be deleted.`,
        mitigation: 'Delete conversations inside the channel instead.',
      })
    }
    refuseStrict(settings, 'conversations.delete')
    if (assume(deletion) === 'not_specified') refuseUncontracted('conversations.delete')
    for (const { id } of tx.in(messages).filter(({ _emulator }) => _emulator.conversation_id === target.id))
      tx.in(messages).delete(id)
    tx.in(conversations).delete(target.id)
    return { body: {} }
  },
})

function noSuchConversation({ conversation_id = '' }: Finder['params']): Refusal {
  const detail = `There is no conversation with the id "${conversation_id}".`
  return new Refusal('not_found', { detail, status: 404 })
}

export const conversationsResource: Resource = {
  name: 'conversations',
  operations: [giveFeedback, listConversations, deleteConversation],
  collections: [conversations, messages],
  assumptions: {
    items: [
      unnamedItem(
        'U034',
        'How consent to data sharing is given, and what donating a trace looks like.',
        'A fact of the conversation; the stored feedback of the message shows whether it donated a trace. Nothing leaves the machine, and no response depends on it.',
        'Nothing leaves the machine, and no response depends on it.',
      ),
      inResponse(
        'U044',
        'The response to deleting a conversation that is not a root.',
        'The conversation and its messages are deleted, with the status of deletions; under --strict a 501.',
      ),
      inResponse(
        'T33',
        'Whether one UUID with -user and with -agent addresses two messages, the halves of one exchange.',
        'They do not. A UUID addresses one message, which has one role. The suffix must be that of its role; the other one is a 400.',
        'A stored message has one role, so nothing is left to choose.',
      ),
      unnamedItem(
        'T34',
        'Which fault of a feedback request is reported first.',
        'A malformed id, then a missing permission or message, which are one 404, then its kind, then the body: so a client cannot learn the kind of a hidden message. Each response is specified, only their order is not.',
        'Each response is specified, only their order is not.',
      ),
      unnamedItem(
        'T40',
        'What the root conversation of a channel is.',
        'A fact that the fixtures give a conversation: channels are no resource of the specification, and the 400 itself is specified.',
        'The 400 itself is specified.',
      ),
    ],
    settings: [uiSurfaces, deletion],
  },
}
