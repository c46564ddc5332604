// SPDX-License-Identifier: Apache-2.0
#include "json.h"

#include <errno.h>

#include "execs.h"
#include "verdict.h"

static const char *const cpu_use_names[] = {
#define CPU_USE(NAME, name, meaning) [CPU_USE_##NAME] = name,
#include "../../abi/cpu_uses.def"
#undef CPU_USE
};

json_t *json_cpu(const struct cpu_row *cpu)
{
	json_t *uses = json_array();
	u64 wall_ns = 0;

	for (int i = 0; i < CPU_USE_COUNT; i++) {
		wall_ns += cpu->ns[i];
		json_array_append_new(uses, json_pack("{s:s, s:o}", "use", cpu_use_names[i], "ns",
						      json_number(cpu->ns[i])));
	}
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "cpu", json_number(cpu->cpu), "wall_ns",
			 json_number(wall_ns), "uses", uses, "queue_ns", json_number(cpu->queue_ns),
			 "switches", json_number(cpu->switches), "missed",
			 json_number(cpu->missed));
}

json_t *json_exec(const struct digest *digest, const struct exec *exec)
{
	struct exec_fate fate;

	exec_fate(digest, exec, &fate);
	return json_pack(
		"{s:o, s:o, s:o, s:s, s:o, s:b, s:b, s:o}", "at_ns",
		json_number(exec->ts_ns > digest->start_ns ? exec->ts_ns - digest->start_ns : 0),
		"pid", json_number(exec->pid), "parent", json_number(exec->parent), "exe",
		exec->exe, "lifetime_ns", json_number(fate.lifetime_ns), "is_over", fate.is_over,
		"is_replaced", fate.is_replaced, "exit_code",
		fate.has_status ? json_integer(fate.status) : json_null());
}

static json_t *verdict_to_json(const struct digest *digest)
{
	json_t *sentences = json_array();
	struct verdict verdict;

	verdict_find(digest, &verdict);
	for (size_t i = 0; i < verdict.count; i++)
		json_array_append_new(sentences, json_string(verdict.sentences[i]));
	return sentences;
}

static json_t *meta_to_json(const struct digest *digest)
{
	json_t *meta = json_object();

	for (size_t i = 0; i < digest->meta.count; i++) {
		const struct meta_row *row = hash_item(&digest->meta, i);

		json_object_set_new(meta, row->key, json_string(row->value));
	}
	return meta;
}

static json_t *slice_to_json(const struct digest *digest)
{
	return json_pack("{s:o, s:o, s:o, s:b}", "begin_ns",
			 json_number(digest->begin_ns - digest->start_ns), "end_ns",
			 json_number(digest->end_ns - digest->start_ns), "windows",
			 json_number(digest->window_count), "is_whole", !digest->is_slice);
}

static void write_execs(struct json_writer *writer, const struct digest *digest)
{
	json_begin(writer, "execs", '[');
	for (size_t i = 0; !writer->err && i < digest->exec_count; i++)
		if (exec_is_shown(digest, &digest->execs[i]))
			json_write(writer, NULL, json_exec(digest, &digest->execs[i]),
				   JSON_COMPACT);
	json_end(writer, ']');
}

int report_print_json(const struct digest *digest, FILE *out)
{
	struct json_writer writer = {.out = out, .is_first = true};

	json_watch_memory();
	fputc('{', out);
	json_write(&writer, "schema", json_string("dwell.report/1"), 0);
	json_write(&writer, "meta", meta_to_json(digest), JSON_INDENT(1));
	json_write(&writer, "slice", slice_to_json(digest), 0);
	json_write(&writer, "quality", json_quality(digest), JSON_INDENT(1));
	json_write(&writer, "verdict", verdict_to_json(digest), JSON_INDENT(1));
	json_write_findings(&writer, digest);
	json_write_groups(&writer, digest);
	json_begin(&writer, "processes", '[');
	for (size_t i = 0; !writer.err && i < digest->process_count; i++)
		if (digest->processes[i].is_present)
			json_write(&writer, NULL, json_process(digest, &digest->processes[i]),
				   JSON_COMPACT);
	json_end(&writer, ']');
	json_begin(&writer, "cpus", '[');
	for (size_t i = 0; !writer.err && i < digest->cpus.count; i++)
		json_write(&writer, NULL, json_cpu(hash_item(&digest->cpus, i)), JSON_COMPACT);
	json_end(&writer, ']');
	json_write_stacks(&writer, digest);
	json_write_signals(&writer, digest);
	json_write_requests(&writer, digest);
	if (digest->options->execs)
		write_execs(&writer, digest);
	fputs("\n}\n", out);
	return json_has_lacked_memory() ? -ENOMEM : writer.err;
}
