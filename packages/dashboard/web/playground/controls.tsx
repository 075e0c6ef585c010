// What a visitor may turn: which scenario, how fast, and the sliders. The stated end of the scenario stands
// beside it and is checked when the run is over.

import { type ReactNode, useState, useSyncExternalStore } from 'react';
import { formatCount } from '../src/lib/format.ts';
import { Problem, Tag } from '../src/parts/index.ts';
import { DEFAULT_SEED, type Playground } from './playground-source.ts';
import type { PlaygroundState, ScenarioInfo, SliderInfo } from './protocol.ts';
import { sliderText, sliderTitle } from './slider-text.ts';

const SPEEDS = [0.5, 1, 2, 4, 10, 25, 50] as const;

export function Controls({ playground }: { readonly playground: Playground }): ReactNode {
  const { scenarios, sliders, state, problem } = useSyncExternalStore(
    (told) => playground.watch(told),
    () => playground.view(),
  );
  const [isOpen, setOpen] = useState(false);
  const scenario = scenarios.find((info) => info.id === state?.scenario);
  const load = (id: string): void => {
    const settings = id === state?.scenario ? state.settings : {};
    playground.send({ type: 'load', scenario: id, seed: state?.seed ?? DEFAULT_SEED, settings });
  };
  return (
    <section className="playground" aria-label="Playground">
      {problem === null ? null : <Problem problem={problem} />}
      <div className="playground-row">
        <label className="filter">
          <span>Scenario</span>
          <select
            value={state?.scenario ?? ''}
            disabled={scenarios.length === 0}
            onChange={(event) => {
              load(event.target.value);
              playground.send({ type: 'play', cyclesPerSecond: state?.cyclesPerSecond ?? 4 });
            }}
          >
            {state === null ? <option value="">loading</option> : null}
            {scenarios.map((info) => (
              <option key={info.id} value={info.id}>
                {info.title}
              </option>
            ))}
          </select>
        </label>
        {state === null ? null : <Run playground={playground} state={state} load={load} />}
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls="playground-sliders"
          onClick={() => setOpen(!isOpen)}
        >
          Sliders
        </button>
        {state?.needsReload ? (
          <button type="button" className="primary" onClick={() => load(state.scenario)}>
            Apply and start again
          </button>
        ) : null}
      </div>
      {scenario === undefined || state === null ? null : (
        <Story scenario={scenario} state={state} />
      )}
      <p className="playground-foot">
        <strong>Simulated supply: no machine here is real</strong>
        {state === null ? null : (
          <span
            className="soft"
            title="Hash over the actions of all cycles so far: equal to Node’s for the same seed"
          >
            hash of all actions <code>{state.chain.slice(0, 16)}</code>
          </span>
        )}
      </p>
      <div id="playground-sliders" className="playground-sliders" hidden={!isOpen}>
        {state === null
          ? null
          : sliders.map((slider) => (
              <Slider
                key={slider.name}
                slider={slider}
                value={state.settings[slider.name]}
                onValue={(value) =>
                  playground.send({ type: 'set', settings: { [slider.name]: value } })
                }
              />
            ))}
      </div>
    </section>
  );
}

function Run({
  playground,
  state,
  load,
}: {
  readonly playground: Playground;
  readonly state: PlaygroundState;
  readonly load: (id: string) => void;
}): ReactNode {
  const play = (cyclesPerSecond: number): void =>
    playground.send({ type: 'play', cyclesPerSecond });
  return (
    <>
      {state.isPlaying ? (
        <button
          type="button"
          className="primary"
          onClick={() => playground.send({ type: 'pause' })}
        >
          Pause
        </button>
      ) : (
        <button
          type="button"
          className="primary"
          onClick={() => {
            if (state.isOver) load(state.scenario);
            play(state.cyclesPerSecond);
          }}
        >
          {state.isOver ? 'Run again' : 'Run'}
        </button>
      )}
      <button
        type="button"
        disabled={state.isPlaying || state.isOver}
        onClick={() => playground.send({ type: 'step', cycles: 1 })}
      >
        Step
      </button>
      <label className="filter">
        <span>Speed</span>
        <select
          value={state.cyclesPerSecond}
          onChange={(event) => {
            const speed = Number(event.target.value);
            play(speed);
            if (!state.isPlaying) playground.send({ type: 'pause' });
          }}
        >
          {SPEEDS.map((speed) => (
            <option key={speed} value={speed}>
              {speed} cycles/s
            </option>
          ))}
          {SPEEDS.some((speed) => speed === state.cyclesPerSecond) ? null : (
            <option value={state.cyclesPerSecond}>{state.cyclesPerSecond} cycles/s</option>
          )}
        </select>
      </label>
      <label className="filter playground-seek">
        <span className="num">
          Cycle {formatCount(state.cycle)} of {formatCount(state.lastCycle)}
        </span>
        <input
          type="range"
          min={0}
          max={state.lastCycle}
          value={state.cycle}
          onChange={(event) => playground.send({ type: 'seek', cycle: Number(event.target.value) })}
        />
      </label>
    </>
  );
}

function Story({
  scenario,
  state,
}: {
  readonly scenario: ScenarioInfo;
  readonly state: PlaygroundState;
}): ReactNode {
  return (
    <div className="playground-story">
      <p>
        <strong>{scenario.question}</strong> <span className="soft">{scenario.story}</span>
      </p>
      <p className="playground-end">
        <span className="soft">Stated end: {scenario.endState}</span>
        {state.end === null ? null : state.end.isReached ? (
          <Tag tone="good">reached</Tag>
        ) : (
          <Tag tone={state.hasDefaults ? 'bad' : 'warn'} title={state.end.violations.join('; ')}>
            {state.hasDefaults ? 'not reached' : 'not reached with these sliders'}
          </Tag>
        )}
        {state.end === null || state.end.text === scenario.endState ? null : (
          <span className="soft">{state.end.text}</span>
        )}
      </p>
    </div>
  );
}

function Slider({
  slider,
  value,
  onValue,
}: {
  readonly slider: SliderInfo;
  readonly value: number;
  readonly onValue: (value: number) => void;
}): ReactNode {
  return (
    <label
      className="playground-slider"
      title={`${sliderTitle(slider, value)}; ${slider.isLive ? 'acts at once' : 'acts on the next start'}`}
    >
      <span>
        {slider.label} <strong className="num">{sliderText(slider, value)}</strong>
        {slider.isLive ? null : <span className="soft"> next start</span>}
      </span>
      <input
        type="range"
        min={slider.min}
        max={slider.max}
        step={slider.step}
        value={value}
        onChange={(event) => onValue(Number(event.target.value))}
      />
    </label>
  );
}
