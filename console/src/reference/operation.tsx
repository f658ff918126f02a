/** One operation: what it takes, how to call it, and what it answers by status. */

import reference from 'virtual:reference';
import { useState } from 'preact/hooks';
import { Code } from '../parts/copy.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { masked } from '../session.ts';
import { share, useShared } from '../shared.ts';
import { samplesOf } from './samples.ts';
import type { Answer, Member, Operation } from './shown.ts';
import { Words } from './words.tsx';

/** Whoever wants one sample with fetch wants them all so. */
const language = share('curl');

export function OperationCard({ operation, secret }: { operation: Operation; secret: string }) {
  const { id, method, path, summary, description, parameters, body } = operation;
  return (
    <section class="card operation" id={id} aria-labelledby={`${id}-title`}>
      <header>
        <h3 id={`${id}-title`}>
          <a href={`#${id}`}>{summary}</a>
        </h3>
        <p class="target">
          <span class={`badge method-${method}`}>{method}</span> <code>{path}</code>
        </p>
        <p>
          <Words text={description} />
        </p>
      </header>
      {parameters.length > 0 && (
        <div class="part">
          <h4>Parameters</h4>
          <Members members={parameters} />
        </div>
      )}
      {body && (
        <div class="part">
          <h4>Body</h4>
          <Members members={body.members} />
        </div>
      )}
      <div class="part">
        <h4>Request</h4>
        <Request operation={operation} secret={secret} />
      </div>
      <div class="part">
        <h4>Response</h4>
        <Answers operation={operation} />
      </div>
    </section>
  );
}

export function Members({ members }: { members: readonly Member[] }) {
  return (
    <dl class="members">
      {members.map(({ name, type, note, description }) => (
        <div key={name}>
          <dt>
            <code>{name}</code>{' '}
            <span class="hint">
              <Words text={type} />
              {note && ` · ${note}`}
            </span>
          </dt>
          <dd>
            <Words text={description} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Request({ operation, secret }: { operation: Operation; secret: string }) {
  const wanted = useShared(language);
  const samples = samplesOf(operation);
  const names = Object.keys(samples);
  const chosen = names.includes(wanted) ? wanted : 'curl';
  const write = samples[chosen]!;
  const base = location.origin;
  return (
    <Tabs
      label={`Request: ${operation.summary}`}
      names={names}
      current={chosen}
      onChoose={name => language.set(name)}
    >
      <Code
        text={write(operation, { base, secret: secret && masked(secret) })}
        copied={write(operation, { base, secret })}
        what={`${chosen} sample: ${operation.summary}`}
      />
    </Tabs>
  );
}

function Answers({ operation }: { operation: Operation }) {
  const { summary } = operation;
  const answers = operation.answers.map(place => reference.answers[place]!);
  const [status, setStatus] = useState(answers[0]!.status);
  const answer = answers.find(one => one.status === status)!;
  return (
    <Tabs
      label={`Response: ${summary}`}
      names={answers.map(one => one.status)}
      current={status}
      onChoose={setStatus}
    >
      <AnswerPart key={status} answer={answer} of={summary} />
    </Tabs>
  );
}

function AnswerPart({ answer, of }: { answer: Answer; of: string }) {
  const { status, description, headers, samples, fields } = answer;
  return (
    <>
      <p>
        <Words text={description} />
      </p>
      {samples.length === 0 && <p class="hint">No body.</p>}
      {samples.map(({ summary, value }) => (
        <figure key={summary}>
          {samples.length > 1 && <figcaption class="hint">{summary}</figcaption>}
          <Code
            text={JSON.stringify(value, null, 2)}
            what={`${status} sample: ${of}${samples.length > 1 ? `, ${summary}` : ''}`}
          />
        </figure>
      ))}
      {fields && (
        <details>
          <summary>Fields</summary>
          <Members members={fields} />
        </details>
      )}
      <details>
        <summary>Headers</summary>
        <dl class="members">
          {headers.map(([name, value]) => (
            <div key={name}>
              <dt>
                <code>{name}:</code> <span class="hint mono">{value}</span>
              </dt>
              <dd>
                <Words text={reference.headers[name]!} />
              </dd>
            </div>
          ))}
        </dl>
      </details>
    </>
  );
}
