// CustomResourceDefinitions: checked when they are written, served from then on. A changed schema is seen
// by every read afterwards, under unchanged resourceVersions, and ends the open watches of its resource, as
// a real server does when it replaces the handler of a resource.

import { asList, asNumber, asObj, asText, at, clone, metaOf, type Obj, textAt } from './json.ts';
import type { Objects } from './objects.ts';
import {
  collectionKey,
  type PrinterColumn,
  type ResourceType,
  type ResourceTypes,
} from './resources.ts';
import { applyDefaults, compileSchema, prune, schemaProblems } from './schema.ts';
import { type Cause, fieldError, invalid } from './status.ts';
import type { Change, Store } from './store.ts';

export const DEFINITIONS = 'apiextensions.k8s.io/customresourcedefinitions';
export const DEFINITION_CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';

/** For `Objects`: fills in names, and throws for a definition that cannot be served. */
export function checkDefinition(type: ResourceType, object: Obj): void {
  if (collectionKey(type) !== DEFINITIONS) return;
  const spec = { ...asObj(object['spec']) };
  const names = { ...asObj(spec['names']) };
  const kind = asText(names['kind']);
  names['singular'] ??= kind.toLowerCase();
  names['listKind'] ??= `${kind}List`;
  spec['names'] = names;
  spec['conversion'] ??= { strategy: 'None' };
  object['spec'] = spec;
  const problems = definitionProblems(object);
  if (problems.length > 0) throw invalid(type, textAt(object, 'metadata', 'name'), problems);
}

const SCOPES = ['Cluster', 'Namespaced'];

function definitionProblems(object: Obj): Cause[] {
  const problems: Cause[] = [];
  const spec = asObj(object['spec']);
  const expected = `${textAt(spec, 'names', 'plural')}.${asText(spec['group'])}`;
  const name = textAt(object, 'metadata', 'name');
  if (name !== expected) {
    problems.push(
      fieldError.invalid('metadata.name', name, `must be spec.names.plural+"."+spec.group`),
    );
  }
  for (const field of ['group', 'scope']) {
    if (asText(spec[field]) === '') problems.push(fieldError.required(`spec.${field}`));
  }
  const scope = asText(spec['scope']);
  if (scope !== '' && !SCOPES.includes(scope)) {
    problems.push(fieldError.unsupported('spec.scope', scope, SCOPES));
  }
  for (const field of ['plural', 'kind']) {
    if (textAt(spec, 'names', field) === '')
      problems.push(fieldError.required(`spec.names.${field}`));
  }
  const versions = asList(spec['versions']);
  if (versions.filter((one) => at(one, 'storage') === true).length !== 1) {
    problems.push(
      fieldError.invalid(
        'spec.versions',
        versions,
        'must have exactly one version marked as storage version',
      ),
    );
  }
  versions.forEach((version, i) => {
    const path = `spec.versions[${i}].schema.openAPIV3Schema`;
    problems.push(...schemaProblems(at(version, 'schema', 'openAPIV3Schema'), path));
  });
  return problems;
}

/** Serves what the definition now says. `endWatches` is for the resource whose schema changed. */
export function followDefinition(
  change: Change,
  world: {
    readonly types: ResourceTypes;
    readonly store: Store;
    readonly endWatches: (collection: string) => void;
  },
): void {
  const { types, store, endWatches } = world;
  const { object } = change.after;
  const group = textAt(object, 'spec', 'group');
  const plural = textAt(object, 'spec', 'names', 'plural');
  const collection = collectionKey({ group, plural });
  if (change.isRemoval) {
    types.remove(group, plural);
    endWatches(collection);
    return;
  }
  const isSame =
    change.before !== undefined &&
    JSON.stringify(change.before.object['spec']) === JSON.stringify(object['spec']);
  if (isSame) return;
  types.remove(group, plural);
  for (const type of typesOf(object)) types.add(type);
  const schema = types.collection(collection)?.custom?.schema;
  if (change.before === undefined || schema === undefined) return;
  store.rewrite(collection, (old) => {
    const fresh = clone(old);
    prune(fresh, schema);
    applyDefaults(fresh, schema.root);
    return fresh;
  });
  endWatches(collection);
}

/** Conditions of an accepted definition. A separate write, as the real server's controllers do it. */
export function establish(objects: Objects, object: Obj): void {
  const type = objects.types.find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions');
  if (type === undefined) return;
  const lastTransitionTime = objects.nowText;
  const condition = (kind: string, reason: string, message: string): Obj => ({
    lastTransitionTime,
    message,
    reason,
    status: 'True',
    type: kind,
  });
  objects.adjust({ type, namespace: '', name: asText(metaOf(object)['name']) }, (copy) => {
    const storage = asList(at(copy, 'spec', 'versions')).find((one) => at(one, 'storage') === true);
    const established = {
      acceptedNames: at(copy, 'spec', 'names'),
      conditions: [
        condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
        condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
      ],
      storedVersions: [textAt(storage, 'name')],
    };
    const status = asObj(copy['status']);
    copy['status'] =
      asList(status['conditions']).length > 0
        ? { ...status, acceptedNames: established.acceptedNames }
        : established;
  });
}

function typesOf(definition: Obj): ResourceType[] {
  const spec = asObj(definition['spec']);
  const names = asObj(spec['names']);
  const versions = asList(spec['versions']).filter((one) => at(one, 'served') === true);
  return versions.map((version): ResourceType => {
    const hasStatus = at(version, 'subresources', 'status') !== undefined;
    return {
      group: asText(spec['group']),
      version: textAt(version, 'name'),
      plural: asText(names['plural']),
      singular: asText(names['singular']),
      kind: asText(names['kind']),
      listKind: asText(names['listKind']),
      isNamespaced: spec['scope'] === 'Namespaced',
      shortNames: asList(names['shortNames']).map(asText),
      categories: asList(names['categories']).map(asText),
      hasStatus,
      hasGeneration: true,
      allowsUnconditionalUpdate: false,
      allowsCreateOnUpdate: false,
      returnsDeleted: false,
      subresources: hasStatus ? ['status'] : [],
      custom: {
        schema: compileSchema(asObj(at(version, 'schema', 'openAPIV3Schema'))),
        selectableFields: asList(at(version, 'selectableFields')).map((one) =>
          textAt(one, 'jsonPath').replace(/^\./, ''),
        ),
        printerColumns: asList(at(version, 'additionalPrinterColumns')).map(columnOf),
        definition: textAt(definition, 'metadata', 'name'),
      },
    };
  });
}

function columnOf(column: unknown): PrinterColumn {
  return {
    name: textAt(column, 'name'),
    type: textAt(column, 'type'),
    format: textAt(column, 'format'),
    description: textAt(column, 'description'),
    priority: asNumber(at(column, 'priority')) ?? 0,
    jsonPath: textAt(column, 'jsonPath'),
  };
}
