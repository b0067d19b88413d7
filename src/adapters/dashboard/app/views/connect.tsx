import { useState } from 'preact/hooks'
import { baseUrl } from '../api.ts'
import { Code } from '../code.tsx'
import { timeOfDay } from '../format.ts'
import { Icon } from '../icon.tsx'
import { linkTo, sandboxName } from '../place.ts'
import { logRows } from '../requests.ts'
import { DEMO_KEYS, LANGUAGES, type Language, snippet } from '../snippets.ts'
import { Card, CopyButton, Tabs, ViewHead } from '../ui.tsx'

export default function Connect() {
  const [language, setLanguage] = useState<Language>('curl')
  const [key, setKey] = useState<string>(DEMO_KEYS[0].token)
  const code = snippet(language, { method: 'GET', url: `${baseUrl()}/data-views`, headers: {}, key })
  const name = sandboxName.value === 'default' ? 'w1' : sandboxName.value
  return (
    <>
      <ViewHead title="Connect" summary="point any HTTP client here" />
      <section class="scroll connect" tabIndex={0} aria-label="How to connect">
        <div class="columns">
          <Card title="Address and keys">
            <div class="pad">
              <div class="field">
                <label for="base-url">Base URL</label>
                <span class="with-copy">
                  <input id="base-url" class="mono" readOnly value={baseUrl()} />
                  <CopyButton text={baseUrl} />
                </span>
              </div>
            </div>
            <ul class="rows">
              {DEMO_KEYS.map(({ token: each, role }) => (
                <li key={each}>
                  <label class="key-choice">
                    <input type="radio" name="key" checked={each === key} onChange={() => setKey(each)} />
                    <code>{each}</code>
                    <span class="hint">{role}</span>
                  </label>
                  <CopyButton text={() => each} />
                </li>
              ))}
            </ul>
            <p class="pad hint">
              These are the keys of the demo data. With your own fixtures, use their keys.
            </p>
          </Card>
          <Card title="First request" actions={<CopyButton text={() => code}>Copy</CopyButton>}>
            <Tabs label="Language" tabs={LANGUAGES} value={language} onChoose={setLanguage} />
            <div class="pad" role="tabpanel" aria-label={language}>
              <Code text={code} />
              <FirstRequest />
            </div>
          </Card>
        </div>
        <Card title="A sandbox for one test">
          <p class="pad">
            Append <code>@name</code> to the key: <code>{`${key}@${name}`}</code>. The sandbox is created on
            first use and has its own data, clock and faults.
          </p>
        </Card>
      </section>
    </>
  )
}

function FirstRequest() {
  const { entries } = logRows.value
  const last = entries[0]
  if (last === undefined) {
    return (
      <p class="note info" role="status">
        <Icon name="progress" />
        <span>Waiting for your first request. This line turns green when it arrives.</span>
      </p>
    )
  }
  return (
    <p class="note ok" role="status">
      <Icon name="ok" />
      <span>
        Connected:{' '}
        <a href={linkTo('requests', [last.id])}>
          {last.method} {last.path}
        </a>{' '}
        at {timeOfDay(last.at)}, status {last.status === 0 ? 'none' : last.status}.
      </span>
    </p>
  )
}
