# Which tests are quick: those of tests/run.sh, at most five seconds each. A test of one file, store or stage, of the source
# tree, or of a corpus is quick unless it stands here.
set(NOT_QUICK
  common/math/bf16_product_test common/nn/input_gradient_test common/nn/layers/attention/attention_test
  common/nn/layers/attention/attention_test_avx2 common/nn/layers/attention/attention_test_plain
  common/nn/layers/layer_kinds_test common/nn/layers/layer_kinds_test_avx2
  common/nn/layers/layer_kinds_test_plain common/nn/layers/layer_tail_test
  common/nn/layers/layer_tail_test_avx2 common/nn/layers/layer_tail_test_plain
  common/nn/model_pass_test common/nn/model_pass_test_avx2 common/nn/model_pass_test_plain
  common/nn/typed/typed_model_test common/nn/typed/typed_model_test_avx2
  common/nn/typed/typed_model_test_plain pipelines/shared/child_process_test pipelines/store/store_check_test
  stages/engine/straggler_test stages/engine/work_loop_loss_test stages/engine/work_loop_test
  stages/infer/attention_windows_test stages/infer/infer_test stages/infer/outputs/output_writer_test
  stages/infer/windows/part_inference_test stages/infer/typed_inference_test
  stages/infer/typed_selection_test stages/infer/window_sums_test stages/ingest/doors_test
  stages/ingest/formats/files/edge_list_reader_test stages/ingest/formats/folders/folder_reader_test
  stages/ingest/formats/columns/node_files_test stages/ingest/formats/collections/ogb_reader_test
  stages/ingest/generate/generator_test stages/ingest/update/listed_rows_test
  stages/ingest/update/merged_versions_test stages/partition/cora_partition_test
  stages/partition/rules/coarse_graph_test stages/partition/rules/embedded_parts_test
  stages/partition/methods/metis_partitioner_test stages/partition/rules/node_stream_test
  stages/partition/rules/vertex_cut_test stages/partition/partition_faults_test
  stages/partition/partition_relations_test stages/partition/partition_test
  stages/partition/typed_version_test stages/partition/version_comparison_test
  stages/partition/version_delta_test stages/plan/chain/chain_test stages/sample/sample_room_test
  stages/train-step/train_step_test stages/train-step/typed_step_test
  store/backends/cluster_faults_test store/backends/cluster_reads_test
  store/backends/s3_faults_test store/features/feature_shard_test
  store/objects/artifact_contract_test store/objects/store_contract_test
  store/objects/store_race_test store/objects/store_series_test
  store/objects/switch_contract_test tree/advice_is_marked_test tree/dockerfile_test
  tree/include_direction_test tree/input_formats_test tree/kubernetes_test tree/samplers_test
  tree/tables_agree_test)
# A test of whole pipelines is not, unless it stands here.
set(QUICK_PIPELINES
  faults/queue_storm pipeline/export_metrics_test pipeline/init_test pipeline/own_graph_test
  pipeline/predict_links_test pipeline/python_test pipeline/relations_test pipeline/replay_test
  pipeline/report_test pipeline/same_run_test)
get_property(tests DIRECTORY PROPERTY TESTS)
foreach(test IN LISTS tests)
  get_test_property(${test} LABELS labels)
  if(test IN_LIST QUICK_PIPELINES OR NOT (test IN_LIST NOT_QUICK OR "pipeline" IN_LIST labels OR "slow" IN_LIST labels))
    set_tests_properties(${test} PROPERTIES LABELS "${labels};quick")
  endif()
endforeach()
foreach(test IN LISTS NOT_QUICK QUICK_PIPELINES)
  if(NOT test IN_LIST tests)
    message(FATAL_ERROR "tests/tiers.cmake: there is no test ${test}")
  endif()
endforeach()
